// Conversions between f32 and the 8-bit formats, by integer arithmetic.
#include "codegen/kernel/math/math.h"

namespace primset::kir::math {
namespace {

// An 8-bit format: exponent bias and explicit mantissa bits, and what overflows to.
struct Format8 {
  int bias, mantissa;
  int64_t overflow_from;  // the f32 whose magnitude, and any above, does not fit
  int64_t overflow_to;    // the pattern it becomes
};
constexpr Format8 kE5m2{15, 2, int64_t{143} << 23, 0x7c};                // 65536, infinity
constexpr Format8 kE4m3fn{7, 3, (int64_t{135} << 23) | 0x680000, 0x7e};  // 464, 448

// As for f16: normal numbers round by an addition before the cut, denormal ones in the f32 adder,
// by adding the power of two whose last place is theirs.
Value narrow(Builder& b, Value x, const Format8& f) {
  auto i = [&](int64_t v) { return b.constant(b.type(x).with_scalar(Scalar::i32), v); };
  const int cut = 23 - f.mantissa;
  const int rebias = 127 - f.bias;
  Value bits = b.bitcast(x, Scalar::i32);
  Value sign = b.and_(b.lshr(bits, i(24)), i(0x80));
  Value body = b.and_(bits, i(0x7fffffff));
  Value even = b.and_(b.lshr(body, i(cut)), i(1));
  const int64_t half = (int64_t{1} << (cut - 1)) - 1;
  Value normal = b.lshr(b.add(b.add(body, i(half - (int64_t{rebias} << 23))), even), i(cut));
  Value place = b.bitcast(i(int64_t{rebias + cut + 1} << 23), Scalar::f32);
  Value sum = b.fadd(b.bitcast(body, Scalar::f32), place);
  Value tiny = b.sub(b.bitcast(sum, Scalar::i32), b.bitcast(place, Scalar::i32));
  Value r = b.select(b.slt(body, i(int64_t{rebias + 1} << 23)), tiny, normal);
  r = b.select(b.sle(i(f.overflow_from), body), i(f.overflow_to), r);
  r = b.select(b.slt(i(0x7f800000), body), i(0x7f), r);
  return b.trunc(b.or_(r, sign), Scalar::i8);
}

}  // namespace

// e5m2 is the upper byte of f16.
Value e5m2_bits_to_f32(Builder& b, Value q) {
  Value wide = b.zext(q, Scalar::i16);
  return f16_bits_to_f32(b, b.shl(wide, b.constant(b.type(wide), 8)));
}

Value f32_to_e5m2_bits(Builder& b, Value x) {
  return narrow(b, x, kE5m2);
}

// Denormals are whole multiples of 2^-9; 0x7f is the only NaN.
Value e4m3fn_bits_to_f32(Builder& b, Value q) {
  Value wide = b.zext(q, Scalar::i32);
  auto i = [&](int64_t v) { return b.constant(b.type(wide), v); };
  Value sign = b.shl(b.and_(wide, i(0x80)), i(24));
  Value body = b.and_(wide, i(0x7f));
  Value normal = b.add(b.shl(body, i(20)), i(int64_t{127 - 7} << 23));
  Value step = b.constant_f(b.type(wide).with_scalar(Scalar::f32), 0x1p-9);
  Value tiny = b.bitcast(b.fmul(b.uitofp(body, Scalar::f32), step), Scalar::i32);
  Value bits = b.select(b.slt(body, i(8)), tiny, normal);
  bits = b.select(b.ieq(body, i(0x7f)), i(0x7fc00000), bits);
  return b.bitcast(b.or_(bits, sign), Scalar::f32);
}

Value f32_to_e4m3fn_bits(Builder& b, Value x) {
  return narrow(b, x, kE4m3fn);
}

}  // namespace primset::kir::math
