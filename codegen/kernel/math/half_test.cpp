// The 16-bit formats: every half and bfloat16 widened, and f32 values around every rounding
// boundary narrowed.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "codegen/kernel/math/math.h"
#include "codegen/kernel/math/testing/function_runs.h"

namespace primset::kir::math_test {
namespace {

using Arrays = std::vector<std::vector<uint64_t>>;

// A device without f16, one with it, one that rounds to bf16 itself, and two whose threads round
// several numbers together, of which the last one takes denormals for zeros.
std::vector<Device> all_devices() {
  std::vector<Device> v(5, devices()[0]);
  v[1].target.f16 = true;
  v[2].target.rounds_bf16 = true;
  v[3].target.simt = v[4].target.simt = true;
  v[4].target.flush_denormals_f32 = true;
  return v;
}

Function of(Value (*f)(Builder&, Value)) {
  return [f](Builder& b, const std::vector<Value>& x) { return f(b, x[0]); };
}

// A 16-bit format's value: bias and mantissa bits.
struct Format16 {
  int mantissa, bias;
};
constexpr Format16 kHalf = {10, 15}, kBfloat = {7, 127};

double value_of(Format16 f, uint64_t bits) {
  const int exponent = static_cast<int>(bits >> f.mantissa & ((1u << (15 - f.mantissa)) - 1));
  const auto mantissa = static_cast<double>(bits & ((1u << f.mantissa) - 1));
  double v = exponent == 0 ? std::ldexp(mantissa, 1 - f.bias - f.mantissa)
                           : std::ldexp(mantissa + std::ldexp(1.0, f.mantissa),
                                        exponent - f.bias - f.mantissa);
  return bits & 0x8000 ? -v : v;
}
// Where the format's infinity begins: a pattern.
uint64_t infinity_of(Format16 f) {
  return ((1u << (15 - f.mantissa)) - 1u) << f.mantissa;
}

// The nearest pattern to an f32, ties to even, by search among the format's values.
uint64_t narrowed(Format16 f, float x) {
  const uint64_t sign = std::signbit(x) ? 0x8000 : 0, infinity = infinity_of(f);
  const double a = std::fabs(static_cast<double>(x));
  if (std::isnan(x)) return sign | infinity | 1;  // any payload
  uint64_t low = 0, high = infinity;  // value_of(infinity) is the value that comes after the last
  if (a >= value_of(f, infinity)) return sign | infinity;
  while (high - low > 1) {
    const uint64_t middle = (low + high) / 2;
    (value_of(f, middle) <= a ? low : high) = middle;
  }
  const double below = a - value_of(f, low), above = value_of(f, high) - a;
  const bool up = above < below || (above == below && (high & 1) == 0);
  return sign | (up ? high : low);
}

bool is_nan16(Format16 f, uint64_t bits) {
  return (bits & 0x7fff) > infinity_of(f);
}

void check_widening(Format16 f, Value (*function)(Builder&, Value)) {
  Arrays x(1);
  for (uint64_t h = 0; h < 0x10000; ++h) x[0].push_back(h);
  for (const Device& device : all_devices()) {
    const auto r = evaluate(device, of(function), Scalar::i16, Scalar::f32, 16, x);
    for (uint64_t h = 0; h < 0x10000; ++h) {
      const float got = std::bit_cast<float>(static_cast<uint32_t>(r[h]));
      if (is_nan16(f, h)) {
        ASSERT_TRUE(std::isnan(got)) << h;
      } else if ((h & 0x7fff) == infinity_of(f)) {
        ASSERT_EQ(got, h & 0x8000 ? -INFINITY : INFINITY);
      } else {
        ASSERT_EQ(got, static_cast<float>(value_of(f, h))) << h;
        ASSERT_EQ(std::signbit(got), (h & 0x8000) != 0) << h;
      }
    }
  }
}

// Each value of the format, each midpoint between two, and their neighbours in f32.
void check_narrowing(Format16 f, Value (*function)(Builder&, Value)) {
  Arrays x(1);
  for (uint64_t h = 0; h <= infinity_of(f); ++h) {
    const float v = static_cast<float>(value_of(f, h));
    const float next = static_cast<float>(value_of(f, h + 1));
    for (float point : {v, static_cast<float>((static_cast<double>(v) + next) / 2)}) {
      const uint32_t bits = std::bit_cast<uint32_t>(point);
      for (uint32_t b : {bits, bits + 1, bits - 1}) {
        x[0].push_back(b & 0x7fffffff);
        x[0].push_back(b | 0x80000000);
      }
    }
  }
  for (uint64_t b :
       {0x7f800000u, 0x7f800001u, 0x7fc00000u, 0xff800000u, 0xffffffffu, 0x7f7fffffu}) {
    x[0].push_back(b);
  }
  for (const Device& device : all_devices()) {
    const auto r = evaluate(device, of(function), Scalar::f32, Scalar::i16, 16, x);
    for (size_t i = 0; i < r.size(); ++i) {
      const float v = std::bit_cast<float>(static_cast<uint32_t>(x[0][i]));
      if (device.target.flush_denormals_f32 && std::fpclassify(v) == FP_SUBNORMAL) continue;
      const uint64_t expected = narrowed(f, v);
      if (is_nan16(f, expected)) {
        ASSERT_TRUE(is_nan16(f, r[i])) << x[0][i];
        // Rounding to bf16 loses a NaN's sign, in ATen too.
        if (f.mantissa != 7) ASSERT_EQ(r[i] & 0x8000, expected & 0x8000) << x[0][i];
        ASSERT_TRUE(r[i] >> (f.mantissa - 1) & 1) << "not quiet: " << x[0][i];
      } else {
        ASSERT_EQ(r[i], expected) << std::hexfloat << v;
      }
    }
  }
}

TEST(Half, WidensEveryValue) {
  check_widening(kHalf, math::f16_bits_to_f32);
}
TEST(Half, NarrowsToNearestEven) {
  check_narrowing(kHalf, math::f32_to_f16_bits);
}
TEST(Bfloat, WidensEveryValue) {
  check_widening(kBfloat, math::bf16_bits_to_f32);
}
TEST(Bfloat, NarrowsToNearestEven) {
  check_narrowing(kBfloat, math::f32_to_bf16_bits);
}

// What takes a sign or chooses needs no rounding: 1 where x < -2, else -|x|. A NaN stays one.
TEST(Bfloat, SignsAndChoicesAreExact) {
  const auto choose = [](Builder& b, const std::vector<Value>& in) {
    const Value x = math::bf16_bits_to_f32(b, in[0]);
    const auto number = [&](double v) { return b.constant_f(b.type(x), v); };
    const Value y = b.select(b.flt(x, number(-2)), number(1), b.fneg(b.fabs(x)));
    return math::f32_to_bf16_bits(b, y);
  };
  Arrays x(1);
  for (uint64_t h = 0; h < 0x10000; ++h) x[0].push_back(h);
  const uint64_t one = narrowed(kBfloat, 1);
  for (const Device& device : all_devices()) {
    const auto r = evaluate(device, choose, Scalar::i16, Scalar::i16, 16, x);
    for (uint64_t h = 0; h < 0x10000; ++h) {
      if (is_nan16(kBfloat, h))
        ASSERT_TRUE(is_nan16(kBfloat, r[h])) << h;
      else
        ASSERT_EQ(r[h], value_of(kBfloat, h) < -2 ? one : h | 0x8000) << h;
    }
  }
}

}  // namespace
}  // namespace primset::kir::math_test
