// Expected values: PyTorch 2.13.
#include <numbers>

#include "decomps/primitives/testing/decompose.h"

namespace primset::decomps {
namespace {

const std::vector<prims::Attr> kDim0 = {{"dim", int64_t{0}}};

TEST(ScanLogAddExp, OfRealNumbers) {
  const std::vector<double> x = {1, -2, 5, -kInf, 3};
  const std::vector<double> want = {1, 1.048587351573742, 5.0190450078792574, 5.0190450078792574,
                                    5.143721747718616};
  expect_near(derived(Prim::scan_log_add_exp, {vector(DType::f64, x)}, kDim0), {5}, want, 1e-15);
  expect_near(derived(Prim::scan_log_add_exp, {vector(DType::f32, x)}, kDim0), {5}, want, 3e-7);
  expect_near(
      derived(Prim::scan_log_add_exp, {vector(DType::f32, {-kInf, -kInf, 2, kInf, kNan})}, kDim0),
      {5}, {-kInf, -kInf, 2, kInf, kNan}, 0);
}

// Of numbers given by their parts, one after the other; NaN for NaN.
void expect_sums(DType type, const std::vector<double>& parts, const std::vector<double>& want,
                 double error, DeviceTraits device = {}) {
  const auto n = static_cast<int64_t>(parts.size() / 2);
  const Array got = derived(Prim::scan_log_add_exp, {complexes(type, {n}, parts)}, kDim0, device);
  for (size_t i = 0; i < want.size(); ++i) {
    const auto& z = got.data[i / 2];
    const auto value = static_cast<double>(i % 2 == 0 ? z.re : z.im);
    const bool near = value == want[i] || std::abs(value - want[i]) <= error;
    EXPECT_TRUE(std::isnan(want[i]) ? std::isnan(value) : near)
        << "part " << i << ": " << value << ", expected " << want[i];
  }
}

TEST(ScanLogAddExp, OfComplexNumbers) {
  expect_sums(DType::c128, {1, 1, -2, .5, 1.5, -2, -kInf, 2, .25, 3},
              {1, 1, 1.0430261277608053, 0.977134033903333, 0.5568499928274864, -1.73053055608096,
               0.5568499928274864, -1.73053055608096, 0.7817627161865455, -2.3584615118537235},
              1e-14);
  expect_sums(DType::c64, {-kInf, 1, -kInf, 2, 3, 1}, {-kInf, 0, -kInf, 0, 3, 1}, 0);
}

// The angle is that of the greater part, of equal ones the later, turned by less than a right one.
TEST(ScanLogAddExp, AnglesGoOnInWholeTurns) {
  expect_sums(
      DType::c128, {.5, 100, .5, -300, 2, -1},
      {.5, 100, 0.4740413200488381, -301.06192982974676, 2.031291738684367, -0.7878649982899837},
      1e-13);
}

TEST(ScanLogAddExp, OfPartsThatAreNotFinite) {
  expect_sums(DType::c128, {-kInf, kInf, 3, 1, 1, kInf}, {-kInf, 0, 3, 1, kNan, kNan}, 0);
  const double eighth = std::numbers::pi / 4;
  expect_sums(DType::c128, {kInf, .5, kInf, 1, 3, 1, kInf, 100},
              {kInf, .5, kInf, eighth, kInf, eighth, kInf, kNan}, 1e-15);
  expect_sums(DType::c128, {1, 0, kInf, 1, 5, 2, kInf, kInf, 0, 0},
              {1, 0, kInf, 1, kInf, 1, kInf, kNan, kNan, kNan}, 0);
  // PyTorch's is NaN where the lesser part's exponential is denormal.
  expect_sums(DType::c128, {0, .3, -726, 1}, {0, .3, 0, .3}, 1e-15);
}

// Two numbers that are nearly opposite: what is left is a 60th of either.
TEST(ScanLogAddExp, SumsThatCancel) {
  const std::vector<double> x = {4, 60, 4, 63.125, 1, -2};
  const std::vector<double> want = {
      4, 60, -0.09880670794036384, 61.5625, 1.2373297046771639, -1.823668080580556};
  expect_sums(DType::c64, x, want, 2e-5);
  expect_sums(DType::c64, x, want, 5e-7, {.fast_f64 = true});
}

}  // namespace
}  // namespace primset::decomps
