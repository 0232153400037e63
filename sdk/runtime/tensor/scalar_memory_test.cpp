#include "sdk/runtime/tensor/scalar_memory.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace primset::runtime {
namespace {

uint32_t bits_of(DType t, double v) {
  uint32_t bits = 0;
  store_scalar(t, v, &bits);
  return bits;
}

TEST(ScalarMemory, HalfRoundsToNearestEven) {
  EXPECT_EQ(bits_of(DType::f16, 1.0), 0x3c00u);
  EXPECT_EQ(bits_of(DType::f16, 65504.0), 0x7bffu);
  EXPECT_EQ(bits_of(DType::f16, 65519.0), 0x7bffu);
  EXPECT_EQ(bits_of(DType::f16, 65520.0), 0x7c00u);  // halfway to the next: infinity
  EXPECT_EQ(bits_of(DType::f16, 0x1p-24), 0x0001u);  // the least subnormal
  EXPECT_EQ(bits_of(DType::f16, 0x1p-25), 0x0000u);  // halfway to it: even
  EXPECT_EQ(bits_of(DType::f16, 0x1.8p-25), 0x0001u);
  EXPECT_EQ(bits_of(DType::f16, -0.0), 0x8000u);
  EXPECT_EQ(bits_of(DType::f16, 1.0 + 0x1p-11), 0x3c00u);
  EXPECT_EQ(bits_of(DType::f16, 1.0 + 0x1.8p-11), 0x3c01u);
}

TEST(ScalarMemory, OtherSmallFloats) {
  EXPECT_EQ(bits_of(DType::bf16, 1.0), 0x3f80u);
  EXPECT_EQ(bits_of(DType::bf16, 3.4e38), 0x7f80u);
  EXPECT_EQ(bits_of(DType::f8_e4m3fn, 448.0), 0x7eu);
  EXPECT_EQ(bits_of(DType::f8_e4m3fn, 1e9), 0x7eu);  // no infinity: saturates
  EXPECT_EQ(bits_of(DType::f8_e5m2, 1e9), 0x7cu);
  EXPECT_EQ(bits_of(DType::f8_e4m3fnuz, 240.0), 0x7fu);
  EXPECT_EQ(bits_of(DType::f8_e4m3fnuz, -1e9), 0x80u);  // NaN
  EXPECT_EQ(bits_of(DType::f8_e4m3fnuz, -0.0), 0u);     // there is no -0
}

TEST(ScalarMemory, EveryNarrowNumberSurvives) {
  for (int code = 0; code < kDTypeCodes; ++code) {
    const auto t = static_cast<DType>(code);
    if (!is_floating(t) || bits(t) > 16) continue;
    for (uint32_t pattern = 0; pattern < 1u << bits(t); ++pattern) {
      const Scalar v = load_scalar(t, &pattern);
      if (std::isnan(v.to_double())) continue;
      EXPECT_EQ(bits_of(t, v.to_double()), pattern) << name(t);
    }
  }
}

TEST(ScalarMemory, IntegersAndComplex) {
  const int64_t big = INT64_MIN;
  EXPECT_EQ(load_scalar(DType::i64, &big).to_int(), INT64_MIN);
  std::complex<float> z{};
  store_scalar(DType::c64, Scalar(std::complex<double>(1, -2)), &z);
  EXPECT_EQ(z, std::complex<float>(1, -2));
  EXPECT_TRUE(load_scalar(DType::c64, &z).is_complex());
  uint16_t halves[] = {1, 2, 3, 4};
  store_scalar(DType::c32, Scalar(std::complex<double>(1, -2)), halves);
  EXPECT_EQ(halves[0], 0x3c00u);
  EXPECT_EQ(halves[1], 0xc000u);
  EXPECT_EQ(halves[2], 3u) << "what lies behind is another's";
  EXPECT_EQ(load_scalar(DType::c32, halves).to_complex(), std::complex<double>(1, -2));
}

}  // namespace
}  // namespace primset::runtime
