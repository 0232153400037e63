#include "codegen/kernel/math/arith.h"

#include <bit>
#include <cmath>
#include <limits>

namespace primset::kir::math {

Arith::Arith(Builder& builder, Type t, bool single_result)
    : b(builder), type(t), single(single_result), fused(builder.target().fused_fma) {}

Value Arith::infinity() const {
  return c(std::numeric_limits<double>::infinity());
}
Value Arith::nan() const {
  return b.constant_bits(type, wide() ? 0x7ff8000000000000u : 0x7fc00000u);
}

int64_t Arith::bits_of(double v) const {
  return wide() ? std::bit_cast<int64_t>(v) : std::bit_cast<int32_t>(static_cast<float>(v));
}

Value Arith::mad(Value x, Value y, Value z) const {
  return fused ? b.fma(x, y, z) : b.fadd(b.fmul(x, y), z);
}
Value Arith::nmad(Value x, Value y, Value z) const {
  return fused ? b.fma(b.fneg(x), y, z) : b.fsub(z, b.fmul(x, y));
}

Value Arith::poly(Value x, std::span<const double> table) const {
  Value r = c(table.back());
  for (size_t k = table.size() - 1; k-- > 0;) r = mad(r, x, c(table[k]));
  return r;
}

Pair Arith::two_sum(Value x, Value y) const {
  Value s = b.fadd(x, y), v = b.fsub(s, x);
  return {s, b.fadd(b.fsub(x, b.fsub(s, v)), b.fsub(y, v))};
}
Pair Arith::fast_two_sum(Value x, Value y) const {
  Value s = b.fadd(x, y);
  return {s, b.fsub(y, b.fsub(s, x))};
}

// The upper half of x's bits: x times 2^k + 1 minus what that adds.
Value Arith::split_high(Value x) const {
  Value scaled = b.fmul(x, c(wide() ? 134217729.0 : 4097.0));
  return b.fsub(scaled, b.fsub(scaled, x));
}
Pair Arith::two_prod(Value x, Value y) const {
  Value p = b.fmul(x, y);
  if (fused) return {p, b.fma(x, y, b.fneg(p))};
  Value xh = split_high(x), yh = split_high(y);
  Value xl = b.fsub(x, xh), yl = b.fsub(y, yh);
  Value e = b.fsub(b.fmul(xh, yh), p);
  e = b.fadd(b.fadd(e, b.fmul(xh, yl)), b.fmul(xl, yh));
  return {p, b.fadd(e, b.fmul(xl, yl))};
}

Value Arith::at_most(Value x, double bound) const {
  return b.select(b.flt(c(bound), x), c(bound), x);
}
Value Arith::at_least(Value x, double bound) const {
  return b.select(b.flt(x, c(bound)), c(bound), x);
}

Value Arith::sign_bit(Value x) const {
  return b.and_(bits(x), i(wide() ? std::numeric_limits<int64_t>::min()
                                  : std::numeric_limits<int32_t>::min()));
}
Value Arith::with_sign(Value magnitude, Value s) const {
  return from_bits(b.or_(bits(magnitude), sign_bit(s)));
}

Value Arith::in_middle(Value x) const {
  const int half = bias() / 2;
  Value low = i(int64_t{bias() - half} << mantissa_bits());
  return b.ult(b.sub(bits(x), low), i(int64_t{2 * half} << mantissa_bits()));
}

// One step of Newton's on the quotient makes up for a sloppy division, or for a sloppy reciprocal,
// which is an instruction where a division is a dozen and a branch.
Value Arith::div(Value x, Value y) const {
  const TargetModel& t = b.target();
  if (has_quick_reciprocal()) {
    Value inverse = b.freciprocal(y), rough = b.fmul(x, inverse);
    return b.fma(b.fma(b.fneg(rough), y, x), inverse, rough);
  }
  Value q = b.fdiv(x, y);
  if (wide() ? t.exact_div_sqrt_f64 : t.exact_div_sqrt_f32) return q;
  Pair p = two_prod(q, y);
  Value rest = b.fsub(b.fsub(x, p.hi), p.lo);
  Value better = b.fadd(q, b.fdiv(rest, y));
  return b.select(is_nan(better), q, better);
}

// Adding 1.5 * 2^mantissa_bits leaves no room for a fraction, and the integer in the lowest bits;
// add goes with it, so that a power of two is made of these bits by a shift alone.
Arith::Rounded Arith::round_scaled(Value x, Value scale, int64_t add) const {
  const double magic = std::ldexp(1.5, mantissa_bits());
  const Value with = c(magic + static_cast<double>(add));
  Value t = b.known_bits(scale) == static_cast<uint64_t>(bits_of(1.0)) ? b.fadd(x, with)
                                                                       : mad(x, scale, with);
  return {b.fsub(t, with), b.sub(bits(t), i(bits_of(magic)))};
}

// In two factors, since 2^n alone may lie outside the range. The first product is exact.
Value Arith::scale_twice_biased(Value x, Value n) const {
  Value half = b.lshr(n, i(1));
  return b.fmul(b.fmul(x, pow2_biased(half)), pow2_biased(b.sub(n, half)));
}

Value Arith::int_to_float(Value n) const {
  if (!wide()) return b.sitofp(n, type.scalar);
  // 64-bit conversions are slow or missing in vector units; the magic number works both ways.
  const double magic = std::ldexp(1.5, mantissa_bits());
  return b.fsub(from_bits(b.add(n, i(bits_of(magic)))), c(magic));
}

Type working_type(const Builder& b, Type t, Widen widen) {
  const bool widens = widen == Widen::unless_fused && t.scalar == Scalar::f32 &&
                      !b.target().fused_fma && b.target().f64;
  return widens ? t.with_scalar(Scalar::f64) : t;
}

}  // namespace primset::kir::math
