// Conversions, against what PyTorch 2.13.0 gives on x86-64.
#include "prims/reference/testing/interpret.h"

namespace primset::prims::reference {
namespace {

Array converted(const Array& x, DType to) {
  return first(run_prim(Prim::convert, {x}, {{"dtype", to}}));
}

const std::vector<double> kFloats = {kNan,   kInf,       -kInf,       1e10,  -1e10,
                                     3e19,   -3.7,       300.5,       7e4,   -1.0,
                                     0x1p31, 0x1p32 + 5, -0x1p31 - 1, 255.9, -200.0};

TEST(Convert, FloatsToIntegers) {
  Array x = vector(DType::f64, kFloats);
  const int64_t low = INT64_MIN, low32 = INT32_MIN;
  expect_equal(converted(x, DType::i64),
               integers(DType::i64, {low, low, low, 10000000000, -10000000000, low, -3, 300, 70000,
                                     -1, 2147483648, 4294967301, -2147483649, 255, -200}));
  expect_equal(converted(x, DType::i32),
               integers(DType::i32, {low32, low32, low32, low32, low32, low32, -3, 300, 70000, -1,
                                     low32, low32, low32, 255, -200}));
  expect_equal(converted(x, DType::i16),
               integers(DType::i16, {0, 0, 0, 0, 0, 0, -3, 300, 4464, -1, 0, 0, 0, 255, -200}));
  expect_equal(converted(x, DType::u8),
               integers(DType::u8, {0, 0, 0, 0, 0, 0, 253, 44, 112, 255, 0, 5, 255, 255, 56}));
  expect_equal(converted(x, DType::u64),
               integers(DType::u64, {low, 0, low, 10000000000, -10000000000, 0, -3, 300, 70000, -1,
                                     2147483648, 4294967301, -2147483649, 255, -200}));
}

TEST(Convert, ToBool) {
  expect_equal(converted(vector(DType::f32, {kNan, 0.0, -0.0, 1e-40, -2}), DType::boolean),
               integers(DType::boolean, {1, 0, 0, 1, 1}));
  expect_equal(converted(integers(DType::i8, {-1, 0, 5}), DType::boolean),
               integers(DType::boolean, {1, 0, 1}));
}

TEST(Convert, HalvesRoundTwice) {
  const double above_tie = 1 + 0x1p-11 + 0x1p-40, above_tie_b = 1 + 0x1p-8 + 0x1p-40;
  EXPECT_EQ(converted(vector(DType::f64, {above_tie}), DType::f16).data[0].re, 1);
  EXPECT_EQ(converted(vector(DType::f64, {above_tie_b}), DType::bf16).data[0].re, 1);
  EXPECT_EQ(converted(vector(DType::f32, {1 + 0x1p-11 + 0x1p-20}), DType::f16).data[0].re,
            1 + 0x1p-10L);
}

TEST(Convert, IntegersToFloats) {
  Array x =
      integers(DType::i64, {(1 << 24) + 1, (int64_t{1} << 40) + (int64_t{1} << 32) + 1, 2049});
  expect_equal(converted(x, DType::f32), vector(DType::f32, {16777216, 1103806595072, 2049}));
  expect_equal(converted(x, DType::bf16), vector(DType::bf16, {16777216, 1099511627776, 2048}));
  EXPECT_EQ(converted(integers(DType::u64, {-1}), DType::f32).data[0].re, 0x1p64L);
}

TEST(Convert, IntegersWrap) {
  expect_equal(converted(integers(DType::i32, {300, -1, 128}), DType::i8),
               integers(DType::i8, {44, -1, -128}));
  expect_equal(converted(integers(DType::i8, {-1}), DType::u64), integers(DType::u64, {-1}));
}

TEST(Convert, Complex) {
  Array z = vector(DType::c64, {1, 0, 0});
  z.data[0].im = 2;
  z.data[1].im = 1;
  expect_equal(converted(z, DType::f32), vector(DType::f32, {1, 0, 0}));
  expect_equal(converted(z, DType::boolean), integers(DType::boolean, {1, 1, 0}));
  EXPECT_EQ(converted(vector(DType::f32, {3}), DType::c128).data[0].im, 0);
}

TEST(Convert, ErrorsPassThrough) {
  Array x = with_errors(vector(DType::f32, {1.5, 2.0, 0.25}), {0.25, 0.25, 0.5});
  EXPECT_EQ(converted(x, DType::f64).data[0].error, 0.25L);
  EXPECT_EQ(undecided(converted(x, DType::i64)), (std::vector<bool>{false, true, false}));
  EXPECT_EQ(undecided(converted(x, DType::boolean)), (std::vector<bool>{false, false, true}));
  long double e = converted(x, DType::f16).data[0].error;
  EXPECT_GE(e, 0.25L + ulp(1.5L, DType::f16));
}

TEST(Bitcast, WidthsAndSigns) {
  auto cast = [](const Array& x, DType to) {
    return first(run_prim(Prim::bitcast, {x}, {{"dtype", to}}));
  };
  expect_equal(cast(vector(DType::f32, {1.0, -0.0}), DType::i32),
               integers(DType::i32, {0x3f800000, INT32_MIN}));
  Array bytes = cast(integers(DType::i32, {0x04030201}), DType::u8);
  EXPECT_EQ(bytes.shape, (Ints{1, 4}));
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(bytes.data[i].integer, static_cast<int64_t>(i) + 1);
  expect_equal(cast(bytes, DType::i32), integers(DType::i32, {0x04030201}));
  Array z = with_errors(vector(DType::c64, {2}), {0.5});
  z.data[0].im = -3;
  Array parts = cast(z, DType::f32);
  EXPECT_EQ(parts.data[1].re, -3);
  EXPECT_EQ(parts.data[1].error, 0.5L);
  EXPECT_TRUE(cast(with_errors(vector(DType::f32, {2}), {0.5}), DType::i32).data[0].undecided);
}

TEST(ComplexParts, MakeAndTake) {
  Array z =
      first(run_prim(Prim::complex, {vector(DType::f32, {1, kNan}), vector(DType::f32, {-2, 3})}));
  EXPECT_EQ(z.dtype, DType::c64);
  expect_equal(first(run_prim(Prim::real, {z})), vector(DType::f32, {1, kNan}));
  expect_equal(first(run_prim(Prim::imag, {z})), vector(DType::f32, {-2, 3}));
}

}  // namespace
}  // namespace primset::prims::reference
