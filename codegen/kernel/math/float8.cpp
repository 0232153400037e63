// Conversions between f32 and the 8-bit formats, by integer arithmetic.
#include <cmath>

#include "codegen/kernel/math/math.h"

namespace primset::kir::math {
namespace {

constexpr int kF32Bias = 127, kF32Mantissa = 23;

// Is the pattern the upper byte of an f16's?
bool is_upper_f16(const FloatFormat& f) {
  return f.exponent_bits == 5 && f.bias == 15 && f.nan == NanEncoding::ieee;
}

// A power of two is f32's exponent; the first of them is half of f32's smallest normal number.
Value power_to_f32(Builder& b, Value q, const FloatFormat& f) {
  Value wide = b.zext(q, Scalar::i32);
  auto i = [&](int64_t v) { return b.constant(b.type(wide), v); };
  Value bits = b.shl(wide, i(kF32Mantissa));
  bits = b.select(b.ieq(wide, i(0)), i(int64_t{1} << (kF32Mantissa - 1)), bits);
  const auto nan = static_cast<int64_t>(f.quiet_nan());
  bits = b.select(b.ieq(wide, i(nan)), i(0x7fc00000), bits);
  return b.bitcast(bits, Scalar::f32);
}

// The exponent, one more from halfway on; of a denormal from above halfway on, as ATen has it.
Value f32_to_power(Builder& b, Value x, const FloatFormat& f) {
  auto i = [&](int64_t v) { return b.constant(b.type(x).with_scalar(Scalar::i32), v); };
  const int64_t half = int64_t{1} << (kF32Mantissa - 1), normal = int64_t{1} << kF32Mantissa;
  Value body = b.and_(b.bitcast(x, Scalar::i32), i(0x7fffffff));
  Value added = b.select(b.slt(body, i(normal)), i(half - 1), i(half));
  Value r = b.lshr(b.add(body, added), i(kF32Mantissa));
  const auto nan = static_cast<int64_t>(f.quiet_nan());
  return b.trunc(b.select(b.slt(i(0x7f7fffff), body), i(nan), r), Scalar::i8);
}

}  // namespace

// A normal number's mantissa and exponent move to their places in f32; a denormal one is a whole
// multiple of the smallest.
Value f8_bits_to_f32(Builder& b, Value q, const FloatFormat& f) {
  if (!f.has_sign()) return power_to_f32(b, q, f);
  if (is_upper_f16(f)) {
    Value half = b.zext(q, Scalar::i16);
    return f16_bits_to_f32(b, b.shl(half, b.constant(b.type(half), 8)));
  }
  Value wide = b.zext(q, Scalar::i32);
  auto i = [&](int64_t v) { return b.constant(b.type(wide), v); };
  Value sign = b.shl(b.and_(wide, i(0x80)), i(24));
  Value body = b.and_(wide, i(0x7f));
  Value normal = b.add(b.shl(body, i(kF32Mantissa - f.mantissa_bits)),
                       i(int64_t{kF32Bias - f.bias} << kF32Mantissa));
  Value step = b.constant_f(b.type(wide).with_scalar(Scalar::f32),
                            std::ldexp(1.0, f.min_exponent() - f.mantissa_bits));
  Value tiny = b.bitcast(b.fmul(b.uitofp(body, Scalar::f32), step), Scalar::i32);
  Value bits = b.select(b.slt(body, i(int64_t{1} << f.mantissa_bits)), tiny, normal);
  if (f.has_infinity()) {
    const auto infinity = static_cast<int64_t>(f.greatest_exponent());
    bits = b.select(b.ieq(body, i(infinity)), i(0x7f800000), bits);
    bits = b.select(b.slt(i(infinity), body), i(0x7fc00000), bits);
  } else {
    Value pattern = f.has_negative_zero() ? body : wide;
    Value nan = b.ieq(pattern, i(static_cast<int64_t>(f.quiet_nan())));
    bits = b.select(nan, i(0x7fc00000), bits);
  }
  return b.bitcast(b.or_(bits, sign), Scalar::f32);
}

// As for f16: normal numbers round by an addition before the cut, denormal ones in the f32 adder,
// by adding the power of two whose last place is theirs.
Value f32_to_f8_bits(Builder& b, Value x, const FloatFormat& f) {
  if (!f.has_sign()) return f32_to_power(b, x, f);
  auto i = [&](int64_t v) { return b.constant(b.type(x).with_scalar(Scalar::i32), v); };
  const int cut = kF32Mantissa - f.mantissa_bits;
  const int rebias = kF32Bias - f.bias;
  Value bits = b.bitcast(x, Scalar::i32);
  Value sign = b.and_(b.lshr(bits, i(24)), i(0x80));
  Value body = b.and_(bits, i(0x7fffffff));
  Value even = b.and_(b.lshr(body, i(cut)), i(1));
  const int64_t half = (int64_t{1} << (cut - 1)) - 1;
  Value normal =
      b.lshr(b.add(b.add(body, i(half - (int64_t{rebias} << kF32Mantissa))), even), i(cut));
  Value place = b.bitcast(i(int64_t{rebias + cut + 1} << kF32Mantissa), Scalar::f32);
  Value sum = b.fadd(b.bitcast(body, Scalar::f32), place);
  Value tiny = b.sub(b.bitcast(sum, Scalar::i32), b.bitcast(place, Scalar::i32));
  Value r = b.select(b.slt(body, i(int64_t{rebias + 1} << kF32Mantissa)), tiny, normal);
  // Without a -0 there is no sign of 0, and NaN is the sign alone.
  if (!f.has_negative_zero()) sign = b.select(b.ieq(r, i(0)), r, sign);
  r = b.select(b.slt(i(static_cast<int64_t>(f.greatest())), r),
               i(static_cast<int64_t>(f.overflowed())), r);
  // All ones are a NaN of both other encodings, and ATen's choice.
  const uint64_t nan = f.has_negative_zero() ? f.magnitude_mask() : f.quiet_nan();
  r = b.select(b.slt(i(0x7f800000), body), i(static_cast<int64_t>(nan)), r);
  return b.trunc(b.or_(r, sign), Scalar::i8);
}

}  // namespace primset::kir::math
