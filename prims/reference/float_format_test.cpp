#include "prims/reference/float_format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

namespace primset::prims::reference {
namespace {

TEST(RoundTo, F16) {
  const long double half_ulp = 0x1p-11L;
  EXPECT_EQ(round_to(1 + half_ulp, DType::f16), 1);  // tie to even
  EXPECT_EQ(round_to(1 + 3 * half_ulp, DType::f16), 1 + 4 * half_ulp);
  EXPECT_EQ(round_to(1 + half_ulp + 0x1p-40L, DType::f16), 1 + 2 * half_ulp);
  EXPECT_EQ(round_to(65519.996L, DType::f16), 65504);
  EXPECT_EQ(round_to(65520, DType::f16), HUGE_VALL);
  EXPECT_EQ(round_to(-65520, DType::f16), -HUGE_VALL);
  EXPECT_EQ(round_to(0x1p-24L, DType::f16), 0x1p-24L);  // the least denormal
  EXPECT_EQ(round_to(0x1p-25L, DType::f16), 0);         // tie to even
  EXPECT_EQ(round_to(0x1.8p-25L, DType::f16), 0x1p-24L);
  EXPECT_TRUE(std::signbit(round_to(-0x1p-30L, DType::f16)));
  EXPECT_TRUE(std::isnan(round_to(std::nanl(""), DType::f16)));
}

TEST(RoundTo, Bf16) {
  EXPECT_EQ(round_to(1 + 0x1p-8L, DType::bf16), 1);
  EXPECT_EQ(round_to(1 + 0x1p-8L + 0x1p-30L, DType::bf16), 1 + 0x1p-7L);
  EXPECT_EQ(round_to(0x1p-133L, DType::bf16), 0x1p-133L);
  EXPECT_EQ(round_to(3.4e38L, DType::bf16), HUGE_VALL);
}

TEST(RoundTo, Float8) {
  EXPECT_EQ(round_to(-0.3L, DType::f8_e4m3fn), -0.3125L);
  EXPECT_EQ(round_to(1e9L, DType::f8_e4m3fn), 448);  // saturates, as PyTorch does
  EXPECT_EQ(round_to(HUGE_VALL, DType::f8_e4m3fn), 448);
  EXPECT_EQ(round_to(61440, DType::f8_e5m2), HUGE_VALL);
  EXPECT_EQ(round_to(61439, DType::f8_e5m2), 57344);
  EXPECT_EQ(round_to(247.9L, DType::f8_e4m3fnuz), 240);
  EXPECT_TRUE(std::isnan(round_to(248, DType::f8_e4m3fnuz)));  // as all that is beyond
  EXPECT_TRUE(std::isnan(round_to(-HUGE_VALL, DType::f8_e4m3fnuz)));
  EXPECT_FALSE(std::signbit(round_to(-0x1p-20L, DType::f8_e4m3fnuz)));  // there is no -0
}

TEST(RoundTo, PowersOfTwo) {
  EXPECT_EQ(round_to(-1.49L, DType::f8_e8m0fnu), 1);  // there is no sign
  EXPECT_EQ(round_to(1.5L, DType::f8_e8m0fnu), 2);
  EXPECT_EQ(round_to(0, DType::f8_e8m0fnu), 0x1p-127L);
  EXPECT_EQ(round_to(0x1.8p-127L, DType::f8_e8m0fnu), 0x1p-126L);
  EXPECT_EQ(round_to(0x1.7p127L, DType::f8_e8m0fnu), 0x1p127L);
  EXPECT_TRUE(std::isnan(round_to(0x1.8p127L, DType::f8_e8m0fnu)));
  EXPECT_TRUE(std::isnan(round_to(HUGE_VALL, DType::f8_e8m0fnu)));
}

// What the standard library says of a number's exponent and rounding, step by step.
long double spacing(long double v, DType t) {
  const FloatFormat& f = float_format(t);
  const int exponent = v == 0 ? f.min_exponent() : std::ilogb(v);
  return std::scalbn(1.0L,
                     std::clamp(exponent, f.min_exponent(), f.max_exponent()) - f.mantissa_bits);
}
long double nearest(long double v, DType t) {
  const long double step = spacing(v, t), r = std::nearbyint(v / step) * step;
  return std::fabs(r) > format(t).max_finite ? std::copysign(HUGE_VALL, v) : r;
}

TEST(RoundTo, AgreesWithTheStandardLibrary) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 100000; ++i) {
    // Any number, a power of two, and its neighbours.
    const long double power = 0x1p63L;
    const long double significands[] = {static_cast<long double>(random()), power,
                                        std::nextafter(power, 0.0L),
                                        std::nextafter(power, HUGE_VALL)};
    const long double v =
        std::scalbn(significands[i % 4], static_cast<int>(random() % 2200) - 1130);
    for (const DType t : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
      ASSERT_EQ(ulp(v, t), spacing(v, t)) << v << name(t);
      ASSERT_EQ(round_to(v, t), nearest(v, t)) << v << name(t);
      ASSERT_EQ(round_to(-v, t), -nearest(v, t)) << v << name(t);
    }
  }
}

TEST(Bits, EveryHalfSurvives) {
  for (int code = 0; code < kDTypeCodes; ++code) {
    const auto t = static_cast<DType>(code);
    if (!is_floating(t) || bits(t) > 16) continue;
    for (uint64_t pattern = 0; pattern < uint64_t{1} << bits(t); ++pattern) {
      long double v = decode(pattern, t);
      if (std::isnan(v)) continue;
      ASSERT_EQ(encode(v, t), pattern) << name(t);
    }
  }
  EXPECT_EQ(encode(1.5L, DType::f32), std::bit_cast<uint32_t>(1.5f));
  EXPECT_EQ(encode(-0x1p-1074L, DType::f64), std::bit_cast<uint64_t>(-0x1p-1074));
  EXPECT_EQ(decode(0x7c00, DType::f16), HUGE_VALL);
  EXPECT_TRUE(std::isnan(decode(encode(std::nanl(""), DType::bf16), DType::bf16)));
  EXPECT_TRUE(std::isnan(decode(0x7f, DType::f8_e4m3fn)));
  EXPECT_TRUE(std::isnan(decode(0x80, DType::f8_e4m3fnuz)));
  EXPECT_EQ(decode(0xff, DType::f8_e4m3fnuz), -240);
}

TEST(Ulp, Spacing) {
  EXPECT_EQ(ulp(1, DType::f32), 0x1p-23L);
  EXPECT_EQ(ulp(-1.99L, DType::f32), 0x1p-23L);
  EXPECT_EQ(ulp(0, DType::f32), 0x1p-149L);
  EXPECT_EQ(ulp(HUGE_VALL, DType::f16), 32);
}

TEST(Integers, WrapAndRange) {
  EXPECT_EQ(wrap(300, DType::u8), 44);
  EXPECT_EQ(wrap(200, DType::i8), -56);
  EXPECT_EQ(wrap(-1, DType::u32), 4294967295);
  EXPECT_EQ(wrap(2, DType::boolean), 1);
  EXPECT_EQ(min_integer(DType::i8), -128);
  EXPECT_EQ(max_integer(DType::i16), 32767);
  EXPECT_EQ(max_integer(DType::u32), 4294967295);
  EXPECT_EQ(max_integer(DType::u64), -1);
  EXPECT_EQ(min_integer(DType::u64), 0);
}

}  // namespace
}  // namespace primset::prims::reference
