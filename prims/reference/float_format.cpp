#include "prims/reference/float_format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>

#include "primset/error.h"

namespace primset::prims::reference {
namespace {

Format make(const FloatFormat& f) {
  const int precision = f.mantissa_bits + 1;
  // The greatest number's significand, counted in steps of its binade.
  const auto steps =
      static_cast<long double>((f.greatest() & f.mantissa_mask()) | f.mantissa_mask() + 1);
  return {precision, f.min_exponent(), f.max_exponent(),
          std::ldexp(steps, f.max_exponent() - f.mantissa_bits), f.has_infinity()};
}

std::array<Format, kDTypeCodes> make_formats() {
  std::array<Format, kDTypeCodes> formats{};
  for (size_t code = 0; code < formats.size(); ++code) {
    const FloatFormat& f = float_format(static_cast<DType>(code));
    if (f.exponent_bits != 0) formats[code] = make(f);
  }
  return formats;
}

// To a power of two, through f32: halfway up. The f32 numbers below the second power, denormals,
// become the second where they are above the first.
long double nearest_power(long double v, const FloatFormat& f) {
  const auto x = static_cast<long double>(std::fabs(static_cast<float>(v)));
  if (!std::isfinite(x)) return std::nanl("");
  const long double first = std::ldexp(1.0L, f.min_exponent());
  if (x < 2 * first) return x > first ? 2 * first : first;
  const long double below = std::ldexp(1.0L, std::ilogb(x));
  const long double power = x < below * 1.5L ? below : below * 2;
  return power > std::ldexp(1.0L, f.max_exponent()) ? std::nanl("") : power;
}

const FloatFormat& bits_of(DType t) {
  const FloatFormat& f = float_format(t);
  if (f.exponent_bits != 0) return f;
  throw Error(ErrorCode::internal, std::string(name(t)) + " is not a floating dtype");
}

// What a number beyond the range becomes.
long double overflowed(const FloatFormat& f, const Format& limits) {
  switch (f.overflow) {
    case Overflow::infinity:
      return HUGE_VALL;
    case Overflow::saturate:
      return limits.max_finite;
    case Overflow::nan:
      break;
  }
  return std::nanl("");
}

// All of a reference's work goes through rounding. What the machine rounds itself is left to it,
// and exponents are read from f64's bits, which is several times as fast as ilogb and ldexp.

constexpr int kBias = 1023, kMantissaBits = 52;

// ilogb, within f64's normal exponents; less is the least.
int binary_exponent(long double v) {
  const auto nearest = static_cast<double>(std::fabs(v));
  const auto bits = std::bit_cast<uint64_t>(nearest);
  const int exponent = static_cast<int>(bits >> kMantissaBits) - kBias;
  // Rounding to f64 may have reached the next power of two.
  const bool above = static_cast<long double>(nearest) > std::fabs(v);
  const bool is_power = (bits & ((uint64_t{1} << kMantissaBits) - 1)) == 0;
  return std::max(exponent - (above && is_power ? 1 : 0), 1 - kBias);
}

long double power_of_two(int exponent) {
  if (exponent <= -kBias) return std::ldexp(1.0L, exponent);
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + kBias) << kMantissaBits);
}

}  // namespace

const Format& format(DType t) {
  static const std::array<Format, kDTypeCodes> formats = make_formats();
  bits_of(t);  // throws where there is none
  return formats[static_cast<size_t>(t)];
}

long double ulp(long double v, DType t) {
  const Format& f = format(t);
  int exponent = f.max_exponent;
  if (std::isfinite(v)) exponent = binary_exponent(v);
  exponent = std::clamp(exponent, f.min_exponent, f.max_exponent);
  return power_of_two(exponent - f.precision + 1);
}

long double round_to(long double v, DType t) {
  const FloatFormat& bits = bits_of(t);
  if (std::isnan(v)) return v;
  if (t == DType::f32) return static_cast<float>(v);
  if (t == DType::f64) return static_cast<double>(v);
  const Format& f = format(t);
  if (!bits.has_sign()) return nearest_power(v, bits);
  long double rounded = std::fabs(v);
  if (std::isfinite(v)) {
    const long double step = ulp(v, t);
    rounded = std::nearbyint(rounded / step) * step;  // both are exact: powers of two
  }
  if (rounded > f.max_finite) rounded = overflowed(bits, f);
  if (rounded == 0 && !bits.has_negative_zero()) return 0;
  return std::copysign(rounded, v);
}

long double unit_roundoff(DType t) {
  return std::ldexp(1.0L, -format(t).precision);
}

uint64_t encode(long double v, DType t) {
  const FloatFormat& f = bits_of(t);
  v = round_to(v, t);
  if (std::isnan(v)) return f.quiet_nan() | (std::signbit(v) ? f.sign_bit() : 0);
  if (!f.has_sign()) return static_cast<uint64_t>(std::ilogb(v) - f.min_exponent());
  const uint64_t sign = std::signbit(v) ? f.sign_bit() : 0;
  if (std::isinf(v)) return sign | f.greatest_exponent();
  // A denormal has exponent field 0; the field of a normal number is one more for its leading bit.
  const long double step = ulp(v, t);
  const auto significand = static_cast<uint64_t>(std::fabs(v) / step);
  const int exponent = std::ilogb(step) + f.mantissa_bits - f.min_exponent();
  return sign | ((static_cast<uint64_t>(exponent) << f.mantissa_bits) + significand);
}

long double decode(uint64_t pattern, DType t) {
  const FloatFormat& f = bits_of(t);
  if (f.is_nan(pattern)) return std::nanl("");
  if (!f.has_sign()) return std::ldexp(1.0L, static_cast<int>(pattern) + f.min_exponent());
  const uint64_t mantissa = pattern & f.mantissa_mask();
  const auto exponent = static_cast<int>((pattern & f.greatest_exponent()) >> f.mantissa_bits);
  long double v = HUGE_VALL;
  if (!f.is_infinity(pattern)) {
    const uint64_t significand = exponent == 0 ? mantissa : mantissa | f.mantissa_mask() + 1;
    const int scale = f.min_exponent() - f.mantissa_bits + std::max(exponent - 1, 0);
    v = std::ldexp(static_cast<long double>(significand), scale);
  }
  return pattern & f.sign_bit() ? -v : v;
}

int64_t wrap(int64_t v, DType t) {
  if (is_bool(t)) return v != 0;
  if (!is_integral(t)) return v;
  const int unused = 64 - bits(t);
  const uint64_t high = static_cast<uint64_t>(v) << unused;
  return is_signed_integer(t) ? static_cast<int64_t>(high) >> unused
                              : static_cast<int64_t>(high >> unused);
}

int64_t min_integer(DType t) {
  if (!is_signed_integer(t)) return 0;
  return static_cast<int64_t>(uint64_t{1} << 63) >> (64 - bits(t));
}

int64_t max_integer(DType t) {
  if (is_bool(t)) return 1;
  if (is_unsigned_integer(t)) return static_cast<int64_t>(~uint64_t{0} >> (64 - bits(t)));
  return ~min_integer(t);
}

}  // namespace primset::prims::reference
