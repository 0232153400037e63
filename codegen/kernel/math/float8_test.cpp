// The 8-bit formats: every pattern widened, and f32 values around every rounding boundary narrowed.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "codegen/kernel/math/math.h"
#include "codegen/kernel/math/testing/function_runs.h"
#include "primset/dtype.h"

namespace primset::kir::math_test {
namespace {

struct Format8 {
  DType dtype;
  int mantissa, bias;
  uint64_t last;    // the pattern of the greatest number
  uint64_t beyond;  // what is greater becomes this; 0x80 is NaN, and there is no -0
};
constexpr Format8 kFormats[] = {{DType::f8_e5m2, 2, 15, 0x7b, 0x7c},
                                {DType::f8_e4m3fn, 3, 7, 0x7e, 0x7e},
                                {DType::f8_e4m3fnuz, 3, 8, 0x7f, 0x80},
                                {DType::f8_e5m2fnuz, 2, 16, 0x7f, 0x80}};

std::string format_name(const testing::TestParamInfo<Format8>& tested) {
  return std::string(name(tested.param.dtype));
}

bool is_nan8(const Format8& f, uint64_t bits) {
  return f.beyond == 0x80 ? (bits & 0xff) == 0x80 : (bits & 0x7f) > f.beyond;
}

// Of the patterns after the last number, too: where the format would go on.
double value_of(const Format8& f, uint64_t magnitude) {
  const auto exponent = static_cast<int>(magnitude >> f.mantissa);
  const auto mantissa = static_cast<double>(magnitude & ((1u << f.mantissa) - 1));
  if (exponent == 0) return std::ldexp(mantissa, 1 - f.bias - f.mantissa);
  return std::ldexp(mantissa + std::ldexp(1.0, f.mantissa), exponent - f.bias - f.mantissa);
}

// The nearest pattern, ties to even.
uint64_t narrowed(const Format8& f, float x) {
  const uint64_t sign = std::signbit(x) ? 0x80 : 0;
  const double a = std::fabs(static_cast<double>(x));
  if (std::isinf(a)) return sign | f.beyond;
  uint64_t best = 0;
  for (uint64_t m = 1; m <= f.last + 1; ++m) {
    const double was = std::fabs(a - value_of(f, best)), is = std::fabs(a - value_of(f, m));
    if (is < was || (is == was && (m & 1) == 0)) best = m;
  }
  if (best > f.last) return sign | f.beyond;
  return best == 0 && f.beyond == 0x80 ? 0 : sign | best;
}

class Float8 : public testing::TestWithParam<Format8> {};

TEST_P(Float8, WidensEveryPattern) {
  const Format8& f = GetParam();
  std::vector<std::vector<uint64_t>> x(1);
  for (uint64_t q = 0; q < 0x100; ++q) x[0].push_back(q);
  auto body = [&](Builder& b, const std::vector<Value>& in) {
    return math::f8_bits_to_f32(b, in[0], float_format(f.dtype));
  };
  const auto r = evaluate(devices()[0], body, Scalar::i8, Scalar::f32, 16, x);
  for (uint64_t q = 0; q < 0x100; ++q) {
    const float got = std::bit_cast<float>(static_cast<uint32_t>(r[q]));
    if (is_nan8(f, q)) {
      ASSERT_TRUE(std::isnan(got)) << q;
    } else if ((q & 0x7f) > f.last) {
      ASSERT_EQ(got, q & 0x80 ? -INFINITY : INFINITY);
    } else {
      ASSERT_EQ(std::fabs(got), static_cast<float>(value_of(f, q & 0x7f))) << q;
      ASSERT_EQ(std::signbit(got), (q & 0x80) != 0) << q;
    }
  }
}

TEST_P(Float8, NarrowsToNearestEven) {
  const Format8& f = GetParam();
  std::vector<std::vector<uint64_t>> x(1);
  for (uint64_t q = 0; q <= f.last; ++q) {
    const double v = value_of(f, q), next = value_of(f, q + 1);
    for (double point : {v, (v + next) / 2, next}) {
      const uint32_t bits = std::bit_cast<uint32_t>(static_cast<float>(point));
      for (uint32_t b : {bits, bits + 1, bits - 1}) {
        x[0].push_back(b & 0x7fffffff);
        x[0].push_back(b | 0x80000000);
      }
    }
  }
  for (uint64_t b : {0x7f800000u, 0x7f800001u, 0x7fc00000u, 0xff800000u, 0xffffffffu, 0x7f7fffffu,
                     0x00000001u, 0x807fffffu})
    x[0].push_back(b);
  auto body = [&](Builder& b, const std::vector<Value>& in) {
    return math::f32_to_f8_bits(b, in[0], float_format(f.dtype));
  };
  const auto r = evaluate(devices()[0], body, Scalar::f32, Scalar::i8, 16, x);
  for (size_t i = 0; i < r.size(); ++i) {
    const float v = std::bit_cast<float>(static_cast<uint32_t>(x[0][i]));
    if (std::isnan(v))
      ASSERT_TRUE(is_nan8(f, r[i])) << x[0][i];
    else
      ASSERT_EQ(r[i] & 0xff, narrowed(f, v)) << std::hexfloat << v;
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, Float8, testing::ValuesIn(kFormats), format_name);

// Powers of two: what PyTorch makes of f32.
TEST(Float8Powers, NarrowAndWidenAsPyTorch) {
  const FloatFormat& f = float_format(DType::f8_e8m0fnu);
  const std::vector<std::pair<float, uint64_t>> narrowed = {
      {0.0f, 0},        {-0.0f, 0},       {1.0f, 127},    {-1.0f, 127},   {1.5f, 128},
      {1.49999f, 127},  {2.99f, 128},     {3.01f, 129},   {0x1p-127f, 0}, {0x1.8p-127f, 1},
      {0x1.8p-126f, 2}, {0x1p-126f, 1},   {0x1p-149f, 0}, {3e38f, 255},   {2.55e38f, 254},
      {INFINITY, 255},  {-INFINITY, 255}, {NAN, 255}};
  std::vector<std::vector<uint64_t>> x(1), q(1);
  for (const auto& [value, pattern] : narrowed) x[0].push_back(std::bit_cast<uint32_t>(value));
  const auto narrow = [&](Builder& b, const std::vector<Value>& in) {
    return math::f32_to_f8_bits(b, in[0], f);
  };
  const auto got = evaluate(devices()[0], narrow, Scalar::f32, Scalar::i8, 16, x);
  for (size_t i = 0; i < narrowed.size(); ++i)
    EXPECT_EQ(got[i] & 0xff, narrowed[i].second) << narrowed[i].first;

  for (uint64_t pattern = 0; pattern < 0x100; ++pattern) q[0].push_back(pattern);
  const auto widen = [&](Builder& b, const std::vector<Value>& in) {
    return math::f8_bits_to_f32(b, in[0], f);
  };
  const auto wide = evaluate(devices()[0], widen, Scalar::i8, Scalar::f32, 16, q);
  for (int pattern = 0; pattern < 0xff; ++pattern)
    EXPECT_EQ(std::bit_cast<float>(static_cast<uint32_t>(wide[static_cast<size_t>(pattern)])),
              std::ldexp(1.0f, pattern - 127));
  EXPECT_TRUE(std::isnan(std::bit_cast<float>(static_cast<uint32_t>(wide[0xff]))));
}

TEST(Float8Formats, AreAllTested) {
  for (int code = 0; code < kDTypeCodes; ++code) {
    const auto t = static_cast<DType>(code);
    const auto is_tested = [t](const Format8& f) { return f.dtype == t; };
    const bool signed_format = is_float8(t) && float_format(t).has_sign();
    EXPECT_EQ(std::ranges::any_of(kFormats, is_tested), signed_format) << name(t);
  }
}

}  // namespace
}  // namespace primset::kir::math_test
