// Expected values of the incomplete gamma functions: mpmath at 30 digits.
#include "decomps/primitives/testing/decompose.h"

namespace primset::decomps {
namespace {

struct Share {
  double a, x, lower, upper;
};

constexpr Share kShares[] = {
    {0.5, 0.25, 0.52049987781304654, 0.47950012218695346},
    {0.5, 3.0, 0.98569412156457036, 0.01430587843542964},
    {1.0, 1.0, 0.63212055882855768, 0.36787944117144232},
    {2.5, 0.001, 9.5085345986079498e-9, 0.9999999904914654},
    {0.001, 0.5, 0.99943993334352925, 0.00056006665647074989},
    {1e-10, 0.3, 0.99999999990943233, 9.056766516920478e-11},
    {1e-05, 1.05, 0.99999798125047347, 2.0187495265335288e-6},
    {0.3, 1.09, 0.92594549831240866, 0.074054501687591338},
    {3.0, 2.875, 0.54823013287990795, 0.45176986712009205},
    {3.0, 10.0, 0.99723060428448842, 0.0027693957155115759},
    {10.0, 4.0, 0.0081322427969338632, 0.99186775720306614},
    {10.0, 25.0, 0.99977852336175122, 0.00022147663824878358},
    {30.0, 31.0, 0.59534782096561088, 0.40465217903438912},
    {50.0, 20.0, 1.2458926079719379e-8, 0.99999998754107392},
    {50.0, 120.0, 0.99999999999983992, 1.6008226793344829e-13},
    {150.0, 150.0, 0.51085822974935968, 0.48914177025064032},
    {199.0, 230.0, 0.98283295437362312, 0.017167045626376883},
    {250.0, 240.0, 0.2676500698540158, 0.7323499301459842},
    {250.0, 300.0, 0.9986225281224718, 0.001377471877528202},
    {250.0, 500.0, 1.0, 1.2085183611329767e-35},
    {1000.0, 1000.0, 0.50420524418021551, 0.49579475581978449},
    {1000.0, 900.0, 0.00054990226571178292, 0.99945009773428822},
    {10000.0, 10200.0, 0.9767126778664012, 0.023287322133598804},
    {2.0, 80.0, 1.0, 1.4619296241547863e-33},
    {5.0, 70.0, 1.0, 4.2143914919856121e-25},
    {0.75, 0.0625, 0.13243643509841953, 0.86756356490158047},
    {200.0, 100.0, 9.3431500729883903e-19, 1.0},
    {100.0, 131.0, 0.99788193871078799, 0.0021180612892120104},
};

// In units of the relative error that the tolerance allows.
void expect_shares(DType t, double bound, const std::vector<Share>& shares) {
  std::vector<Sample> lower, upper;
  for (const Share& s : shares) {
    lower.push_back({{s.a, s.x}, s.lower});
    upper.push_back({{s.a, s.x}, s.upper});
  }
  expect_ulps(Prim::igamma, t, lower, bound);
  expect_ulps(Prim::igammac, t, upper, bound);
}

TEST(IncompleteGamma, OfF64) {
  expect_shares(DType::f64, 1024, {std::begin(kShares), std::end(kShares)});
}

// Of arguments that f32 holds.
TEST(IncompleteGamma, OfF32) {
  std::vector<Share> shares;
  for (const Share& s : kShares) {
    if (double{static_cast<float>(s.a)} == s.a && double{static_cast<float>(s.x)} == s.x)
      shares.push_back(s);
  }
  ASSERT_GT(shares.size(), 10u);
  expect_shares(DType::f32, 256, shares);
}

TEST(IncompleteGamma, Edges) {
  const std::vector<Share> edges = {
      {0, 1, 1, 0},
      {0, 0, kNan, kNan},
      {2, 0, 0, 1},
      {-1, 1, kNan, kNan},
      {1, -1, kNan, kNan},
      {kInf, 1, 0, 1},
      {1, kInf, 1, 0},
      {kInf, kInf, kNan, kNan},
      {kNan, 1, kNan, kNan},
      {1, kNan, kNan, kNan},
      {kInf, 0, 0, 1},
      {0, kInf, 1, 0},
      {kNan, 0, 0, 1},
      {kNan, kInf, 1, 0},
      {kInf, kNan, 0, 1},
      {0, kNan, kNan, kNan},
      {1, 800, 1, 0},
      {1e300, 1, 0, 1},
      {1e-300, 1, 1, 2.1938393439552026e-301},
  };
  expect_shares(DType::f64, 1024, edges);
}

}  // namespace
}  // namespace primset::decomps
