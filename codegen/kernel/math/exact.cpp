// Correctly rounded and exact operations in software, for targets whose own are not.
//
// fma: Boldo and Melquiond, Emulation of FMA and correctly rounded sums: proved algorithms using
// rounding to odd (IEEE Transactions on Computers 57, 2008), with operands scaled to the middle of
// the range. div and sqrt: a sloppy quotient or root, moved to the nearest by the sign of its exact
// residual (Markstein, IA-64 and Elementary Functions, 2000, chapters 8 and 9). Where the target
// has fma, div is Markstein's for most operands: a reciprocal rounded to nearest, and two
// corrections. So is sqrt where there is a quick reciprocal root to begin with; a division begins
// with its square then, since a shader's own division, however rough, takes longer. (Of both, all
// mantissas were tried with beginnings up to four units off.)
#include <cmath>

#include "codegen/kernel/math/arith.h"
#include "codegen/kernel/math/math.h"

namespace primset::kir::math {
namespace {

// x + y rounded to odd: cut off, and the last bit set unless that was exact. Rounding such a sum
// again, to fewer bits by two or more, gives what one rounding would have given.
Value add_to_odd(const Arith& a, Value x, Value y) {
  Builder& b = a.b;
  Pair s = a.two_sum(x, y);
  Value bits = a.bits(s.hi);
  Value even = b.ieq(b.and_(bits, a.i(1)), a.i(0));
  Value inexact = b.flt(a.c(0.0), b.fabs(s.lo));
  // An error of the sum's sign: the next larger magnitude, else the next smaller.
  Value outward = b.sle(a.i(0), b.xor_(bits, a.bits(s.lo)));
  Value step = b.select(outward, a.i(1), a.i(-1));
  return b.select(b.and_(even, inexact), a.from_bits(b.add(bits, step)), s.hi);
}

// A value times a power of two.
struct Scaled {
  Value x;
  Value exponent;  // integer
};
// x = result.x * 2^exponent, 1 <= |result.x| < 2; for finite x other than zero.
Scaled normalize(const Arith& a, Value x) {
  Builder& b = a.b;
  const int bits = a.mantissa_bits(), up = bits + 2;
  const int64_t exponent_mask = (2 * int64_t{a.bias()} + 1) << bits;
  Value tiny = b.flt(b.fabs(x), a.c(a.wide() ? 0x1p-1022 : 0x1p-126));
  Value normal = b.select(tiny, b.fmul(x, a.c(std::ldexp(1.0, up))), x);
  Value pattern = a.bits(normal);
  Value biased = b.lshr(b.and_(pattern, a.i(exponent_mask)), a.i(bits));
  Value e = b.sub(biased, b.select(tiny, a.i(a.bias() + up), a.i(a.bias())));
  Value m = b.or_(b.and_(pattern, a.i(~exponent_mask)), a.i(int64_t{a.bias()} << bits));
  return {a.from_bits(m), e};
}

Value clamp(const Arith& a, Value n, int64_t low, int64_t high) {
  Builder& b = a.b;
  n = b.select(b.slt(n, a.i(low)), a.i(low), n);
  return b.select(b.slt(a.i(high), n), a.i(high), n);
}
// (high + low) * 2^exponent rounded once, denormal results too. high is between 2^-4 and 2^4 and
// low at most half its last place, perhaps cut off to odd; or low is zero.
Value round_scaled_sum(const Arith& a, Value high, Value low, Value exponent) {
  Builder& b = a.b;
  const int least = 1 - a.bias();
  Value e = clamp(a, exponent, least - a.mantissa_bits() - 8, a.bias() + 8);
  Value first = b.fadd(high, low);
  // The smallest normal result, scaled as high is. Below it, adding it makes the addition round
  // where the denormal result ends.
  Value near_denormal = b.slt(e, a.i(least + a.mantissa_bits() + 5));
  Value anchor =
      a.pow2_biased(b.sub(a.i(a.bias() + least), b.select(near_denormal, e, a.i(least))));
  Value denormal = b.and_(near_denormal, b.flt(b.fabs(first), anchor));
  anchor = a.with_sign(anchor, first);
  Pair s = a.two_sum(anchor, high);
  Value rounded = b.fsub(b.fadd(s.hi, add_to_odd(a, s.lo, low)), anchor);
  Value sum = b.select(denormal, rounded, first);
  // Keeps the sign of a result that rounds to zero.
  sum = a.with_sign(b.fabs(sum), first);
  return a.scale_twice_biased(sum, b.add(e, a.i(2 * a.bias())));
}

bool exact_division(const Arith& a) {
  const TargetModel& t = a.b.target();
  return a.wide() ? t.exact_div_sqrt_f64 : t.exact_div_sqrt_f32;
}

// As the bits have it: comparisons may take denormals for zeros.
Value is_zero(const Arith& a, Value x) {
  return a.b.ieq(a.bits(a.b.fabs(x)), a.i(0));
}
// Infinite or NaN.
Value not_finite(const Arith& a, Value x) {
  return a.b.not_(a.b.flt(a.b.fabs(x), a.infinity()));
}

Value times_pow2(const Arith& a, Value x, Value n) {
  return a.b.fmul(x, a.pow2_biased(a.b.add(n, a.i(a.bias()))));
}

// --- fma -----------------------------------------------------------------------------------------

// The product is exact in f64, and two more bits than f32 has make rounding to odd safe.
Value fma_through_f64(Builder& b, Value x, Value y, Value z) {
  Arith a(b, b.type(x).with_scalar(Scalar::f64), true);
  Value product = b.fmul(b.fpext(x, Scalar::f64), b.fpext(y, Scalar::f64));
  return b.fptrunc(add_to_odd(a, product, b.fpext(z, Scalar::f64)), Scalar::f32);
}

// For finite operands other than zero.
Value fma_scaled(const Arith& a, Value x, Value y, Value z) {
  Builder& b = a.b;
  const int p = a.mantissa_bits() + 1;
  Scaled sx = normalize(a, x), sy = normalize(a, y), sz = normalize(a, z);
  Value product_exponent = b.add(sx.exponent, sy.exponent);
  // The greater of product and z keeps its size, the lesser is scaled down; where it is out of
  // reach, how far does not matter.
  Value d = b.sub(sz.exponent, product_exponent);
  Value z_greater = b.slt(a.i(0), d);
  Value x_down = clamp(a, b.sub(a.i(0), d), -(p + 6), 0);
  Value z_down = clamp(a, d, -(2 * p + 10), 0);
  Pair u = a.two_prod(times_pow2(a, sx.x, x_down), sy.x);
  Pair t = a.two_sum(times_pow2(a, sz.x, z_down), u.lo);
  Pair v = a.two_sum(u.hi, t.hi);
  return round_scaled_sum(a, v.hi, add_to_odd(a, t.lo, v.lo),
                          b.select(z_greater, sz.exponent, product_exponent));
}

}  // namespace

Value fma(Builder& b, Value x, Value y, Value z) {
  const Type t = b.type(x);
  if (b.target().fused_fma) return b.fma(x, y, z);
  if (t.scalar == Scalar::f32 && b.target().f64) return fma_through_f64(b, x, y, z);
  Arith a(b, t, false);
  Value product = b.fmul(x, y);
  Value zero_product = b.or_(is_zero(a, x), is_zero(a, y)), no_z = is_zero(a, z);
  // A finite product must not meet an infinite z as infinity of its own rounding.
  Value factors_wild = b.or_(not_finite(a, x), not_finite(a, y));
  Value plain = b.select(b.and_(not_finite(a, z), b.not_(factors_wild)), z, b.fadd(product, z));
  plain = b.select(b.and_(no_z, b.not_(zero_product)), product, plain);
  Value simple = b.or_(b.or_(factors_wild, not_finite(a, z)), b.or_(no_z, zero_product));
  return b.select(simple, plain, fma_scaled(a, x, y, z));
}

// --- division and square root --------------------------------------------------------------------

namespace {

// x - y*z where that is exact.
Value residual(const Arith& a, Value x, Value y, Value z) {
  Pair p = a.two_prod(y, z);
  return a.b.fsub(a.b.fsub(x, p.hi), p.lo);
}

// x/y for finite operands other than zero.
Value div_scaled(const Arith& a, Value x, Value y) {
  Builder& b = a.b;
  Scaled sx = normalize(a, b.fabs(x)), sy = normalize(a, b.fabs(y));
  Value less = b.flt(sx.x, sy.x);  // the quotient shall lie between 1 and 2
  Value n = b.select(less, b.fadd(sx.x, sx.x), sx.x), d = sy.x;
  Value e = b.sub(b.sub(sx.exponent, sy.exponent), b.select(less, a.i(1), a.i(0)));
  Value q = b.fdiv(n, d);
  q = b.fadd(q, b.fdiv(residual(a, n, q, d), d));
  const double unit = std::ldexp(1.0, -a.mantissa_bits());
  Value rest = residual(a, n, q, d), half = b.fmul(d, a.c(unit / 2));
  Value up = b.select(b.flt(half, rest), a.c(unit), a.c(0.0));
  Value step = b.select(b.flt(rest, b.fneg(half)), a.c(-unit), up);
  q = b.fadd(q, step);
  // The sign of what is left decides where a denormal result rounds. Halved, it cannot look like
  // half a unit of q.
  Value left = b.fmul(b.fdiv(residual(a, n, q, d), d), a.c(0.5));
  Value magnitude = round_scaled_sum(a, q, left, e);
  return a.from_bits(b.xor_(a.bits(magnitude), b.xor_(a.sign_bit(x), a.sign_bit(y))));
}

Value rough_reciprocal(const Arith& a, Value x) {
  if (!a.has_quick_reciprocal()) return a.b.fdiv(a.c(1.0), x);
  Value root = a.b.frsqrt(x);
  return a.b.fmul(root, root);
}

// x/y where every step of it stays in the normal range, and no mantissa of y is all ones: of those
// alone the reciprocal below may be the wrong neighbour. x may be zero.
Value div_fused(const Arith& a, Value x, Value y) {
  Builder& b = a.b;
  Value ax = b.fabs(x), ay = b.fabs(y), minus = b.fneg(ay), r = rough_reciprocal(a, ay);
  for (int i = 0; i < 2; ++i) r = b.fma(b.fma(minus, r, a.c(1.0)), r, r);
  Value q = b.fmul(ax, r);
  for (int i = 0; i < 2; ++i) q = b.fma(b.fma(minus, q, ax), r, q);
  return a.from_bits(b.or_(a.bits(q), b.xor_(a.sign_bit(x), a.sign_bit(y))));
}

// May div_fused() not be used?
Value outside_div_fused(const Arith& a, Value x, Value y) {
  Builder& b = a.b;
  Value ax = b.fabs(x), ay = b.fabs(y);
  const int64_t ones = (int64_t{1} << a.mantissa_bits()) - 1;
  Value all_ones = b.ieq(b.and_(a.bits(y), a.i(ones)), a.i(ones));
  return b.or_(b.not_(b.and_(b.or_(a.in_middle(ax), is_zero(a, x)), a.in_middle(ay))), all_ones);
}

// The square root of an x in the middle.
Value sqrt_fused(const Arith& a, Value x) {
  Builder& b = a.b;
  Value y = b.frsqrt(x), root = b.fmul(x, y), half = b.fmul(y, a.c(0.5));
  Value off = b.fma(b.fneg(root), half, a.c(0.5));
  root = b.fma(root, off, root);
  half = b.fma(half, off, half);
  return b.fma(b.fma(b.fneg(root), root, x), half, root);
}

// The square root of a positive finite x.
Value sqrt_scaled(const Arith& a, Value x) {
  Builder& b = a.b;
  Scaled s = normalize(a, x);
  Value odd = b.ine(b.and_(s.exponent, a.i(1)), a.i(0));
  Value v = b.select(odd, b.fadd(s.x, s.x), s.x);
  Value e = b.ashr(s.exponent, a.i(1));
  Value q = b.fsqrt(v);
  q = b.fadd(q, b.fdiv(residual(a, v, q, q), b.fadd(q, q)));
  // (q + u/2)^2 = q^2 + qu + u^2/4, and v - q^2 is a multiple of u^2.
  const double unit = std::ldexp(1.0, -a.mantissa_bits());
  Value rest = residual(a, v, q, q), reach = b.fmul(q, a.c(unit));
  Value up = b.select(b.flt(reach, rest), a.c(unit), a.c(0.0));
  q = b.fadd(q, b.select(b.fle(rest, b.fneg(reach)), a.c(-unit), up));
  return times_pow2(a, q, e);
}

}  // namespace

Value div(Builder& b, Value x, Value y) {
  Arith a(b, b.type(x), false);
  if (exact_division(a)) return b.fdiv(x, y);
  const auto any = [&] {
    Value special =
        b.or_(b.or_(is_zero(a, x), is_zero(a, y)), b.or_(not_finite(a, x), not_finite(a, y)));
    return b.select(special, b.fdiv(x, y), div_scaled(a, x, y));
  };
  if (!a.fused) return any();
  return fix_rare(b, outside_div_fused(a, x, y), div_fused(a, x, y), any);
}

Value sqrt(Builder& b, Value x) {
  Arith a(b, b.type(x), false);
  if (exact_division(a)) return b.fsqrt(x);
  const auto any = [&] {
    Value ordinary = b.and_(b.flt(a.c(0.0), x), b.flt(x, a.infinity()));
    return b.select(ordinary, sqrt_scaled(a, x), b.fsqrt(x));
  };
  if (!a.has_quick_reciprocal()) return any();
  return fix_rare(b, b.not_(a.in_middle(x)), sqrt_fused(a, x), any);
}

// --- fmod ----------------------------------------------------------------------------------------

namespace {

// r modulo d for r below d 2^(p-5). The nearest quotient, even one off by a little, leaves a
// remainder below d in magnitude, which is exact; the next lower one might leave one bit too many.
Value short_remainder(const Arith& a, Value r, Value d) {
  Builder& b = a.b;
  Value q = b.frint(a.has_quick_reciprocal() ? b.fmul(r, b.freciprocal(d)) : b.fdiv(r, d));
  Value rest = a.fused ? b.fma(b.fneg(q), d, r) : residual(a, r, q, d);
  return b.select(b.flt(rest, a.c(0.0)), b.fadd(rest, d), rest);
}

// |x| modulo |y| for finite x and y other than zero, in units of y's power of two: long division,
// p - 5 bits at a time. The remainder is v * 2^n throughout.
Value long_remainder(const Arith& a, const Scaled& sx, const Scaled& sy) {
  Builder& b = a.b;
  const int digits = a.mantissa_bits() - 4;
  auto more = [&](std::span<const Value> state) { return b.any(b.slt(a.i(0), state[1])); };
  auto step = [&](std::span<const Value> state) {
    Value n = state[1], taken = clamp(a, n, 0, digits);
    Value rest = short_remainder(a, times_pow2(a, state[0], taken), sy.x);
    n = b.sub(n, taken);
    // Leading zeros of the rest are shifted out at once.
    Value zeros = b.sub(a.i(0), normalize(a, rest).exponent);
    Value shift = b.select(b.slt(zeros, n), zeros, n);
    shift = clamp(a, shift, 0, digits);
    return Builder::Values{times_pow2(a, rest, shift), b.sub(n, shift)};
  };
  auto state = b.while_loop({sx.x, b.sub(sx.exponent, sy.exponent)}, more, step);
  return short_remainder(a, state[0], sy.x);
}

// Where a step of the long division would do, in the middle of the range.
Value has_short_remainder(const Arith& a, Value ax, Value ay) {
  Builder& b = a.b;
  const double great = a.wide() ? 0x1p900 : 0x1p100;
  Value middle = b.and_(b.fle(a.c(1 / great), ay), b.flt(ay, a.c(great)));
  return b.and_(middle, b.flt(ax, b.fmul(ay, a.c(std::ldexp(1.0, a.mantissa_bits() - 4)))));
}

Value any_remainder(const Arith& a, Value x, Value y) {
  Builder& b = a.b;
  Value ax = b.fabs(x), ay = b.fabs(y);
  Scaled sx = normalize(a, ax), sy = normalize(a, ay);
  Value r = long_remainder(a, sx, sy);
  r = a.scale_twice_biased(r, b.add(sy.exponent, a.i(2 * a.bias())));
  r = a.with_sign(r, x);
  r = b.select(b.or_(b.flt(ax, ay), is_zero(a, x)), x, r);
  Value invalid = b.or_(b.or_(not_finite(a, x), is_zero(a, y)), a.is_nan(y));
  return b.select(invalid, a.nan(), r);
}

}  // namespace

Value fmod(Builder& b, Value x, Value y) {
  Arith a(b, b.type(x), false);
  Value ax = b.fabs(x), ay = b.fabs(y);
  Value near = b.select(b.flt(ax, ay), x, a.with_sign(short_remainder(a, ax, ay), x));
  return fix_rare(b, b.not_(has_short_remainder(a, ax, ay)), near,
                  [&] { return any_remainder(a, x, y); });
}

// --- the small ones ------------------------------------------------------------------------------

namespace {

// x where it is before y (with `least`) or behind it, or NaN; else y. Where comparisons take
// denormals for zeros the order is asked of the bits: as integers two negative numbers have it
// turned round. Of equal numbers either will do.
Value first_or_nan(Builder& b, Value x, Value y, bool least) {
  const Type t = b.type(x);
  Value takes_x;
  if (b.target().flush_denormals_f32 && t.scalar == Scalar::f32 && t.lanes == b.type(y).lanes) {
    const Value ix = b.bitcast(x, Scalar::i32), iy = b.bitcast(y, Scalar::i32);
    const Value zero = b.constant({Scalar::i32, t.lanes}, 0);
    const Value order = least ? b.slt(ix, iy) : b.slt(iy, ix);
    takes_x = b.and_(b.xor_(order, b.slt(b.and_(ix, iy), zero)), b.feq(y, y));
  } else {
    takes_x = least ? b.flt(x, y) : b.flt(y, x);
  }
  return b.select(b.or_(takes_x, b.fne(x, x)), x, y);
}

}  // namespace

Value min_nan(Builder& b, Value x, Value y) {
  return first_or_nan(b, x, y, true);
}
Value max_nan(Builder& b, Value x, Value y) {
  return first_or_nan(b, x, y, false);
}

namespace {

// The divisor, or 1 where dividing by it would trap. Dividing MIN by 1 instead of -1 gives MIN, and
// rest 0, as it should.
Value safe_divisor(Builder& b, Value x, Value y, bool is_signed) {
  const Type t = b.type(y);
  Value bad = b.ieq(y, b.constant(t, 0));
  if (is_signed) {
    const uint64_t lowest = uint64_t{1} << (width(t.scalar) - 1);
    Value overflows = b.and_(b.ieq(x, b.constant_bits(t, lowest)), b.ieq(y, b.constant(t, -1)));
    bad = b.or_(bad, overflows);
  }
  return b.select(bad, b.constant(t, 1), y);
}

// A division of 64 bits takes a GPU five times as long as one of 32, which does where both
// magnitudes fit.
bool divides_in_words(const Builder& b, Value x, Value d) {
  return b.target().simt && b.type(x).scalar == Scalar::i64 && !b.known_bits(d);
}

Value in_words(Builder& b, Value x, Value d, bool is_signed, bool remainder) {
  const Type t = b.type(x).with_scalar(Scalar::i64);
  Value zero = b.constant(t, 0), one = b.constant(t.with_scalar(Scalar::i32), 1);
  const auto negative = [&](Value v) { return b.slt(v, zero); };
  const auto negated = [&](Value at, Value v) {
    return is_signed ? b.select(at, b.sub(zero, v), v) : v;
  };
  Value size_x = negated(negative(x), x), size_d = negated(negative(d), d);
  Value wide = b.ine(b.lshr(b.or_(size_x, size_d), b.constant(t, 32)), zero);
  Value n = b.trunc(size_x, Scalar::i32), by = b.select(wide, one, b.trunc(size_d, Scalar::i32));
  Value narrow = b.zext(remainder ? b.urem(n, by) : b.udiv(n, by), Scalar::i64);
  Value sign = negative(remainder ? x : b.xor_(x, d));
  return fix_rare(b, wide, negated(sign, narrow), [&] {
    if (remainder) return is_signed ? b.srem(x, d) : b.urem(x, d);
    return is_signed ? b.sdiv(x, d) : b.udiv(x, d);
  });
}

}  // namespace

Value safe_div(Builder& b, Value x, Value y, bool is_signed) {
  Value d = safe_divisor(b, x, y, is_signed), zero = b.constant(b.type(y), 0);
  if (divides_in_words(b, x, y))
    return b.select(b.ieq(y, zero), zero, in_words(b, x, d, is_signed, false));
  Value q = is_signed ? b.sdiv(x, d) : b.udiv(x, d);
  return b.select(b.ieq(y, zero), zero, q);
}
Value safe_rem(Builder& b, Value x, Value y, bool is_signed) {
  Value d = safe_divisor(b, x, y, is_signed), zero = b.constant(b.type(y), 0);
  if (divides_in_words(b, x, y))
    return b.select(b.ieq(y, zero), zero, in_words(b, x, d, is_signed, true));
  Value r = is_signed ? b.srem(x, d) : b.urem(x, d);
  return b.select(b.ieq(y, zero), zero, r);
}

}  // namespace primset::kir::math
