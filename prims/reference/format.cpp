#include "prims/reference/format.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "primset/error.h"

namespace primset::prims::reference {
namespace {

Format make(int precision, int exponent_bits) {
  int bias = (1 << (exponent_bits - 1)) - 1;
  long double max = std::ldexp(2.0L - std::ldexp(1.0L, 1 - precision), bias);
  return {precision, 1 - bias, bias, exponent_bits, max, true};
}

}  // namespace

const Format& format(DType t) {
  static const Format f16 = make(11, 5), bf16 = make(8, 8), f32 = make(24, 8), f64 = make(53, 11),
                      e5m2 = make(3, 5), e4m3fn = {4, -6, 8, 4, 448.0L, false};
  switch (real_type(t)) {
    case DType::f16:
      return f16;
    case DType::bf16:
      return bf16;
    case DType::f32:
      return f32;
    case DType::f64:
      return f64;
    case DType::f8_e5m2:
      return e5m2;
    case DType::f8_e4m3fn:
      return e4m3fn;
    default:
      throw Error(ErrorCode::internal, std::string(name(t)) + " is not a floating dtype");
  }
}

long double ulp(long double v, DType t) {
  const Format& f = format(t);
  int exponent = f.max_exponent;
  if (std::isfinite(v)) exponent = v == 0 ? f.min_exponent : std::ilogb(v);
  exponent = std::clamp(exponent, f.min_exponent, f.max_exponent);
  return std::ldexp(1.0L, exponent - f.precision + 1);
}

long double round_to(long double v, DType t) {
  const Format& f = format(t);
  if (std::isnan(v) || v == 0) return v;
  long double limit = f.has_infinity ? HUGE_VALL : f.max_finite;
  if (std::isinf(v)) return std::copysign(limit, v);
  long double step = ulp(v, t);
  long double rounded = std::nearbyint(v / step) * step;  // both steps are exact: powers of two
  if (std::fabs(rounded) > f.max_finite) rounded = limit;
  return std::copysign(rounded, v);
}

long double unit_roundoff(DType t) {
  return std::ldexp(1.0L, -format(t).precision);
}

uint64_t encode(long double v, DType t) {
  const Format& f = format(t);
  int mantissa_bits = f.precision - 1;
  uint64_t all_exponent = (uint64_t{1} << f.exponent_bits) - 1;
  uint64_t sign = std::signbit(v) ? uint64_t{1} << (f.exponent_bits + mantissa_bits) : 0;
  if (std::isnan(v)) {
    uint64_t mantissa =
        f.has_infinity ? uint64_t{1} << (mantissa_bits - 1) : (uint64_t{1} << mantissa_bits) - 1;
    return sign | all_exponent << mantissa_bits | mantissa;
  }
  v = round_to(v, t);
  if (std::isinf(v)) return sign | all_exponent << mantissa_bits;
  // A denormal has exponent field 0; the field of a normal number is one more for its leading bit.
  long double step = ulp(v, t);
  auto significand = static_cast<uint64_t>(std::fabs(v) / step);
  int exponent = std::ilogb(step) + mantissa_bits - f.min_exponent;
  return sign | ((static_cast<uint64_t>(exponent) << mantissa_bits) + significand);
}

long double decode(uint64_t bits, DType t) {
  const Format& f = format(t);
  int mantissa_bits = f.precision - 1;
  uint64_t all_exponent = (uint64_t{1} << f.exponent_bits) - 1;
  uint64_t mantissa = bits & ((uint64_t{1} << mantissa_bits) - 1);
  uint64_t exponent = bits >> mantissa_bits & all_exponent;
  bool negative = bits >> (mantissa_bits + f.exponent_bits) & 1;
  long double v;
  if (f.has_infinity && exponent == all_exponent) {
    v = mantissa ? std::nanl("") : HUGE_VALL;
  } else if (!f.has_infinity && exponent == all_exponent &&
             mantissa == (uint64_t{1} << mantissa_bits) - 1) {
    v = std::nanl("");
  } else {
    uint64_t significand = exponent ? mantissa | uint64_t{1} << mantissa_bits : mantissa;
    int scale = f.min_exponent - mantissa_bits + (exponent ? static_cast<int>(exponent) - 1 : 0);
    v = std::ldexp(static_cast<long double>(significand), scale);
  }
  return negative ? -v : v;
}

int64_t wrap(int64_t v, DType t) {
  switch (t) {
    case DType::boolean:
      return v != 0;
    case DType::u8:
      return static_cast<uint8_t>(v);
    case DType::i8:
      return static_cast<int8_t>(v);
    case DType::u16:
      return static_cast<uint16_t>(v);
    case DType::i16:
      return static_cast<int16_t>(v);
    case DType::u32:
      return static_cast<uint32_t>(v);
    case DType::i32:
      return static_cast<int32_t>(v);
    default:
      return v;
  }
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
