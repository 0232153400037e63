// Expected values: NumPy 2 in f64.
#include "prims/reference/testing/interpret.h"

namespace primset::prims::reference {
namespace {

Array complexes(Ints shape, const std::vector<double>& parts) {
  Array a = make_array(DType::c128, std::move(shape));
  for (size_t i = 0; i < a.data.size(); ++i)
    a.data[i].re = parts[2 * i], a.data[i].im = parts[2 * i + 1];
  return a;
}

void expect_parts(const Array& got, const Ints& shape, const std::vector<double>& parts) {
  ASSERT_EQ(got.shape, shape);
  for (size_t i = 0; i < got.data.size(); ++i) {
    EXPECT_FALSE(got.data[i].undecided) << i;
    EXPECT_NEAR(static_cast<double>(got.data[i].re), parts[2 * i], 1e-14) << i;
    EXPECT_NEAR(static_cast<double>(got.data[i].im), parts[2 * i + 1], 1e-14) << i;
  }
}

TEST(Fft, OfThreeElementsAndBack) {
  const Array x = complexes({3}, {1, 0, 2, 0, 4, 0});
  const double root = 1.7320508075688772;
  expect_parts(first(run_prim(Prim::fft_c2c, {x}, {{"dims", Ints{0}}, {"forward", true}})), {3},
               {7, 0, -2, root, -2, -root});
  expect_parts(first(run_prim(Prim::fft_c2c, {x}, {{"dims", Ints{0}}, {"forward", false}})), {3},
               {7, 0, -2, -root, -2, root});
}

TEST(Fft, OverTwoDims) {
  const Array x = complexes({2, 2}, {1, 2, 3, -1, 0, 1, 2, 0});
  expect_parts(first(run_prim(Prim::fft_c2c, {x}, {{"dims", Ints{0, 1}}, {"forward", true}})),
               {2, 2}, {6, 2, -4, 4, 2, 0, 0, 2});
}

TEST(Fft, OfRealValues) {
  const Array x = array(DType::f64, {4}, {1, 2, 3, 5});
  expect_parts(first(run_prim(Prim::fft_r2c, {x}, {{"dims", Ints{0}}})), {3},
               {11, 0, -2, 3, -3, 0});
}

// The imaginary parts of the ends are not looked at.
TEST(Fft, ToRealValues) {
  const Array x = complexes({3}, {11, 9, -2, 3, -3, 7});
  expect_equal(first(run_prim(Prim::fft_c2r, {x}, {{"dims", Ints{0}}, {"n", SymInt(4)}})),
               array(DType::f64, {4}, {4, 8, 12, 20}));
}

// Each element may be off by a few roundings of all that is added up; nobody knows what comes of
// NaN.
TEST(Fft, BoundsOfErrors) {
  Array x = complexes({2, 4}, {1, 0, 1, 0, 1, 0, 1, 0, kNan, 0, 1, 0, 1, 0, 1, 0});
  const Array y = first(run_prim(Prim::fft_c2c, {x}, {{"dims", Ints{1}}, {"forward", true}}));
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_GE(y.data[i].error, 4 * 0x1p-53L) << i;
    EXPECT_LE(y.data[i].error, 100 * 0x1p-53L) << i;
    EXPECT_TRUE(y.data[4 + i].undecided) << i;
  }
}

}  // namespace
}  // namespace primset::prims::reference
