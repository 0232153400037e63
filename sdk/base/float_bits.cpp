#include "sdk/base/float_bits.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace primset {
namespace {

// As ATen rounds f32 to Float8_e8m0fnu: halfway up, but what is below the second power of
// two is the first, or the second where it is above the first.
uint64_t power_of_two_bits(double value, const FloatFormat& f) {
  const double v = std::fabs(static_cast<double>(static_cast<float>(value)));
  if (!std::isfinite(v)) return f.quiet_nan();
  const double first = std::ldexp(1.0, f.min_exponent());
  if (v < 2 * first) return v > first ? 1 : 0;
  const int exponent = std::ilogb(v);
  const bool up = v >= std::ldexp(1.5, exponent);
  const auto pattern = static_cast<uint64_t>(exponent - f.min_exponent() + (up ? 1 : 0));
  return pattern > f.greatest() ? f.overflowed() : pattern;
}

}  // namespace

double float_from_bits(uint64_t pattern, const FloatFormat& f) {
  const bool negative = (pattern & f.sign_bit()) != 0;
  const double sign = negative ? -1 : 1;
  if (f.is_nan(pattern)) return std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
  if (!f.has_sign()) return std::ldexp(1.0, static_cast<int>(pattern) + f.min_exponent());
  if (f.is_infinity(pattern)) return sign * std::numeric_limits<double>::infinity();
  const uint64_t mantissa = pattern & f.mantissa_mask();
  const auto exponent = static_cast<int>((pattern & f.greatest_exponent()) >> f.mantissa_bits);
  const uint64_t leading = exponent == 0 ? 0 : f.mantissa_mask() + 1;
  const int scale = std::max(exponent, 1) - f.bias - f.mantissa_bits;
  return sign * std::ldexp(static_cast<double>(leading | mantissa), scale);
}

uint64_t float_to_bits(double value, const FloatFormat& f) {
  if (!f.has_sign()) return power_of_two_bits(value, f);
  const uint64_t sign = std::signbit(value) ? f.sign_bit() : 0;
  if (std::isnan(value)) return sign | f.quiet_nan();
  const double magnitude = std::fabs(value);
  if (std::isinf(value)) return sign | f.overflowed();
  // The number in units of its binade's last place, rounded to nearest even. A pattern without its
  // sign grows by one a unit, from binade to binade too; a normal number's leading bit, which is
  // not stored, is one of the exponent's.
  const int exponent =
      magnitude == 0 ? f.min_exponent() : std::max(std::ilogb(magnitude), f.min_exponent());
  if (exponent > f.max_exponent()) return sign | f.overflowed();
  const double units = std::nearbyint(std::ldexp(magnitude, f.mantissa_bits - exponent));
  const auto binade = static_cast<uint64_t>(exponent - f.min_exponent());
  const uint64_t pattern = (binade << f.mantissa_bits) + static_cast<uint64_t>(units);
  if (pattern == 0 && !f.has_negative_zero()) return 0;
  return sign | (pattern > f.greatest() ? f.overflowed() : pattern);
}

}  // namespace primset
