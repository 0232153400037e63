// Expected values: PyTorch 2.13 in f64.
#include "decomps/primitives/testing/decompose.h"

namespace primset::decomps {
namespace {

Result cholesky(const Array& a, bool upper) {
  return run_derived(Prim::cholesky, {a}, {{"upper", upper}});
}

const std::vector<double> kLower = {2, 0, 0, 1, 3, 0, -1, 1.6666666666666667, 2.6874192494328497};
const std::vector<double> kUpper = {2, 1, -1, 0, 3, 1.6666666666666667, 0, 0, 2.6874192494328497};

// Only one triangle is read: the other holds NaN.
TEST(Cholesky, OfOneTriangle) {
  for (DType t : {DType::f32, DType::f64}) {
    const double precision = t == DType::f64 ? 1e-15 : 3e-7;
    const Result lower = cholesky(array(t, {3, 3}, {4, kNan, kNan, 2, 10, kNan, -2, 4, 11}), false);
    expect_near(lower.outputs[0], {3, 3}, kLower, precision);
    EXPECT_EQ(lower.outputs[1].data[0].integer, 0);
    const Result upper = cholesky(array(t, {3, 3}, {4, 2, -2, kNan, 10, 4, kNan, kNan, 11}), true);
    expect_near(upper.outputs[0], {3, 3}, kUpper, precision);
  }
}

TEST(Cholesky, TellsTheMinorThatIsNotPositive) {
  const Result r = cholesky(
      array(DType::f64, {4, 2, 2}, {1, 0, 0, 1, 1, 2, 2, 1, -1, 0, 0, 1, 1, 0, kNan, 1}), false);
  EXPECT_EQ(r.outputs[1].shape, (std::vector<int64_t>{4}));
  const int64_t want[] = {0, 2, 1, 2};
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(r.outputs[1].data[i].integer, want[i]) << i;
  EXPECT_TRUE(r.failures.empty());
}

TEST(Cholesky, OfHermitianMatrices) {
  const Array a =
      complexes(DType::c128, {3, 3}, {4, 0, 2, 1, 0, 0, 2, -1, 6, 0, 0, 1, 0, 0, 0, -1, 3, 0});
  const double want[] = {2,
                         0,
                         0,
                         0,
                         0,
                         0,
                         1,
                         -0.5,
                         2.179449471770337,
                         0,
                         0,
                         0,
                         0,
                         0,
                         0,
                         -0.4588314677411235,
                         1.6701717529076243,
                         0};
  const Array lower = cholesky(a, false).outputs[0], upper = cholesky(a, true).outputs[0];
  for (size_t i = 0; i < 9; ++i) {
    const size_t mirrored = i % 3 * 3 + i / 3;
    EXPECT_NEAR(static_cast<double>(lower.data[i].re), want[2 * i], 1e-15);
    EXPECT_NEAR(static_cast<double>(lower.data[i].im), want[2 * i + 1], 1e-15);
    EXPECT_NEAR(static_cast<double>(upper.data[mirrored].re), want[2 * i], 1e-15);
    EXPECT_NEAR(static_cast<double>(upper.data[mirrored].im), -want[2 * i + 1], 1e-15);
  }
}

TEST(Cholesky, OfEmptyMatrices) {
  EXPECT_TRUE(cholesky(array(DType::f32, {2, 0, 0}, {}), false).outputs[0].data.empty());
}

}  // namespace
}  // namespace primset::decomps
