// Conversions between f32 and the 16-bit formats, by integer arithmetic where the target has no
// f16.
#include "codegen/kernel/math/math.h"

namespace primset::kir::math {
namespace {

Type like(const Builder& b, Value v, Scalar s) {
  return b.type(v).with_scalar(s);
}

Value splat_i32(Builder& b, Value like_v, int64_t v) {
  return b.constant(like(b, like_v, Scalar::i32), v);
}

}  // namespace

// Moves exponent and mantissa into place and rebiases. A half's denormal becomes a normal f32: with
// 2^-14's exponent put on top, the mantissa is what the number exceeds 2^-14 by.
Value f16_bits_to_f32(Builder& b, Value h) {
  if (b.target().f16) return b.fpext(b.bitcast(h, Scalar::f16), Scalar::f32);
  auto i = [&](int64_t v) { return splat_i32(b, h, v); };
  Value wide = b.zext(h, Scalar::i32);
  Value sign = b.shl(b.and_(wide, i(0x8000)), i(16));
  Value body = b.shl(b.and_(wide, i(0x7fff)), i(13));
  Value exponent = b.and_(body, i(0x0f800000));
  Value normal = b.add(body, i((127 - 15) << 23));
  Value special = b.add(normal, i((128 - 16) << 23));
  Value quiet = b.select(b.ine(b.and_(body, i(0x007fffff)), i(0)), i(0x00400000), i(0));
  Value smallest = b.bitcast(i((127 - 14) << 23), Scalar::f32);
  Value tiny = b.fsub(b.bitcast(b.or_(body, i((127 - 14) << 23)), Scalar::f32), smallest);
  Value bits = b.select(b.ieq(exponent, i(0x0f800000)), b.or_(special, quiet), normal);
  bits = b.select(b.ieq(exponent, i(0)), b.bitcast(tiny, Scalar::i32), bits);
  return b.bitcast(b.or_(bits, sign), Scalar::f32);
}

// Normal results: add half of what is cut off (less one bit for ties to even) and cut; a carry
// steps the exponent, up to infinity. Denormal results: adding 1/2 makes the f32 adder round at
// 2^-24.
Value f32_to_f16_bits(Builder& b, Value x) {
  if (b.target().f16) return b.bitcast(b.fptrunc(x, Scalar::f16), Scalar::i16);
  auto i = [&](int64_t v) { return splat_i32(b, x, v); };
  Value bits = b.bitcast(x, Scalar::i32);
  Value sign = b.and_(b.lshr(bits, i(16)), i(0x8000));
  Value body = b.and_(bits, i(0x7fffffff));
  Value even = b.and_(b.lshr(body, i(13)), i(1));
  Value normal = b.lshr(b.add(b.add(body, i(0xfff - (112 << 23))), even), i(13));
  Value half = b.constant_f(like(b, x, Scalar::f32), 0.5);
  Value sum = b.fadd(b.bitcast(body, Scalar::f32), half);
  Value tiny = b.sub(b.bitcast(sum, Scalar::i32), b.bitcast(half, Scalar::i32));
  Value nan = b.or_(i(0x7e00), b.and_(b.lshr(body, i(13)), i(0x3ff)));
  Value r = b.select(b.slt(body, i(113 << 23)), tiny, normal);
  r = b.select(b.sle(i(0x47800000), body), i(0x7c00), r);  // 65536 and beyond, infinity
  r = b.select(b.slt(i(0x7f800000), body), nan, r);
  return b.trunc(b.or_(r, sign), Scalar::i16);
}

Value bf16_bits_to_f32(Builder& b, Value h) {
  return b.bitcast(b.shl(b.zext(h, Scalar::i32), splat_i32(b, h, 16)), Scalar::f32);
}

namespace {

// The bits that bf16_bits_to_f32 made x of, if it did.
Value widened_bits(const Builder& b, Value x) {
  const Inst* cast = b.made_by(x, Op::Bitcast);
  const Inst* moved = cast ? b.made_by(cast->operands[0], Op::Shl) : nullptr;
  const Inst* wide = moved ? b.made_by(moved->operands[0], Op::ZExt) : nullptr;
  const bool is = wide && b.type(wide->operands[0]).scalar == Scalar::i16 &&
                  b.known_bits(moved->operands[1]) == 16u;
  return is ? wide->operands[0] : Value{};
}

// Is x in any case a number that was a bf16, one without a sign or with another one, or a constant
// that has no more bits? `depth`: how many operations may have made it.
bool is_bf16(const Builder& b, Value x, int depth = 4) {
  if (widened_bits(b, x).valid()) return true;
  if (const auto bits = b.known_bits(x)) return (*bits & 0xffff) == 0;
  if (depth == 0) return false;
  const Inst* sign = b.made_by(x, Op::FNeg);
  if (!sign) sign = b.made_by(x, Op::FAbs);
  if (sign) return is_bf16(b, sign->operands[0], depth - 1);
  const Inst* choice = b.made_by(x, Op::Select);
  return choice && is_bf16(b, choice->operands[1], depth - 1) &&
         is_bf16(b, choice->operands[2], depth - 1);
}

// pre: is_bf16()
Value bf16_bits_of(Builder& b, Value x) {
  if (const Value bits = widened_bits(b, x); bits.valid()) return bits;
  const auto number = [&](uint64_t v) { return b.constant_bits(like(b, x, Scalar::i16), v); };
  if (const auto bits = b.known_bits(x)) return number(*bits >> 16 & 0xffff);
  if (const Inst* sign = b.made_by(x, Op::FNeg))
    return b.xor_(bf16_bits_of(b, sign->operands[0]), number(0x8000));
  if (const Inst* sign = b.made_by(x, Op::FAbs))
    return b.and_(bf16_bits_of(b, sign->operands[0]), number(0x7fff));
  const Inst choice = *b.made_by(x, Op::Select);
  const Value first = bf16_bits_of(b, choice.operands[1]);
  return b.select(choice.operands[0], first, bf16_bits_of(b, choice.operands[2]));
}

// Is there a NaN among the lanes? One of them makes their sum one, as infinities of both signs do.
Value may_hold_nan(Builder& b, Value x) {
  Value sum = b.extract(x, 0);
  for (uint32_t lane = 1; lane < b.type(x).lanes; ++lane) sum = b.fadd(sum, b.extract(x, lane));
  return b.fne(sum, sum);
}

Value rounded_bits(Builder& b, Value x) {
  auto i = [&](int64_t v) { return splat_i32(b, x, v); };
  Value bits = b.bitcast(x, Scalar::i32);
  Value last = b.and_(b.lshr(bits, i(16)), i(1));
  return b.add(b.add(bits, i(0x7fff)), last);
}

Value rounded_bits_or_nan(Builder& b, Value x) {
  return b.select(b.fne(x, x), splat_i32(b, x, 0x7fc00000), rounded_bits(b, x));
}

Value upper_half(Builder& b, Value bits) {
  return b.trunc(b.lshr(bits, splat_i32(b, bits, 16)), Scalar::i16);
}

// x to eight bits, ties to even (Veltkamp's splitting); NaN from 2^112 on. A GPU adds and
// multiplies twice as fast as it shifts. Denormals would keep more than their eight bits' worth,
// and are zeros here.
Value rounded_by_adding(Builder& b, Value x) {
  Value scaled = b.fmul(x, b.constant_f(b.type(x), 65537.0));
  return b.fsub(scaled, b.fsub(scaled, x));
}

// Of several numbers on a GPU: what is rare is asked for once.
Value rounded_together(Builder& b, Value x) {
  const bool adds = b.target().flush_denormals_f32;
  Value rounded = adds ? rounded_by_adding(b, x) : x;
  Value bits = adds ? b.bitcast(rounded, Scalar::i32) : rounded_bits(b, x);
  return b.if_else(
      may_hold_nan(b, rounded), [&] { return Builder::Values{rounded_bits_or_nan(b, x)}; },
      [&] { return Builder::Values{bits}; })[0];
}

}  // namespace

// The upper half after rounding; NaN would carry into the exponent, and is the quiet one, as ATen
// has it. What was a bf16 before needs no rounding.
Value f32_to_bf16_bits(Builder& b, Value x) {
  if (is_bf16(b, x)) return bf16_bits_of(b, x);
  if (b.target().rounds_bf16) return b.round_bf16(x);
  const bool together = b.target().simt && b.type(x).lanes > 1;
  return upper_half(b, together ? rounded_together(b, x) : rounded_bits_or_nan(b, x));
}

}  // namespace primset::kir::math
