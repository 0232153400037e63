// pow.
//
// x^y = 2^(y log2 x), with log2 x as an unevaluated sum of two numbers, since y magnifies its
// error. log m = 2 atanh s with s = (m - 1)/(m + 1); its series' first two terms are kept as pairs,
// the rest is a minimax polynomial. Pair arithmetic after Dekker, A floating-point technique for
// extending the available precision, Numerische Mathematik 18 (1971).
#include <cmath>

#include "codegen/kernel/math/exp.h"
#include "codegen/kernel/math/log.h"
#include "codegen/kernel/math/math.h"

namespace primset::kir::math {
namespace {

// (atanh(s)/s - 1 - s^2/3) / s^4 in s^2 for s = (m-1)/(m+1), m from sqrt(1/2) to sqrt(2); relative
// error of atanh 2^-36.8 and 2^-73.5.
constexpr double kAtanhSingle[] = {0x1.999a00p-3, 0x1.24527cp-3, 0x1.dfa266p-4};
constexpr double kAtanhDouble[] = {0x1.9999999999996p-3, 0x1.2492492492f56p-3, 0x1.c71c71c595971p-4,
                                   0x1.745d1829eda8dp-4, 0x1.3b13649ab9fb1p-4, 0x1.112076e743a49p-4,
                                   0x1.de3c1f8e57cd3p-5, 0x1.ead154cdc923ap-5};

// Numbers in two parts.
struct TwoParts {
  double high, low;
};
constexpr TwoParts kThirdSingle = {0x1.555556p-2, -0x1.555556p-27};
constexpr TwoParts kThirdDouble = {0x1.5555555555555p-2, 0x1.5555555555555p-56};
// 2 / ln 2.
constexpr TwoParts kTwoLog2ESingle = {0x1.715476p+1, 0x1.4ae0cp-25};
constexpr TwoParts kTwoLog2EDouble = {0x1.71547652b82fep+1, 0x1.777d0ffda0d24p-55};

// x times a constant.
Pair times(const Arith& a, Pair x, const TwoParts& c) {
  Builder& b = a.b;
  Pair p = a.two_prod(x.hi, a.c(c.high));
  Value low = a.mad(x.hi, a.c(c.low), b.fmul(x.lo, a.c(c.high)));
  return a.fast_two_sum(p.hi, b.fadd(p.lo, low));
}

// (m - 1) / (m + 1).
Pair ratio(const Arith& a, Value m) {
  Builder& b = a.b;
  Value n = b.fsub(m, a.c(1.0));
  Pair d = a.fast_two_sum(a.c(1.0), m);
  const bool quick = a.single && !a.wide() && a.fused && b.target().fast_exp2;
  Value inverse = quick ? b.freciprocal(d.hi) : b.fdiv(a.c(1.0), d.hi);
  Value s = b.fmul(n, inverse);
  Pair back = a.two_prod(s, d.hi);
  Value rest = b.fsub(b.fsub(b.fsub(n, back.hi), back.lo), b.fmul(s, d.lo));
  return a.fast_two_sum(s, b.fmul(rest, inverse));
}

// log2 m.
Pair log2_mantissa(const Arith& a, Value m) {
  Builder& b = a.b;
  Pair s = ratio(a, m);
  Pair w = a.two_prod(s.hi, s.hi);
  w.lo = a.mad(b.fadd(s.hi, s.hi), s.lo, w.lo);
  Pair c = times(a, w, a.wide() ? kThirdDouble : kThirdSingle);
  Value p = a.single ? a.poly(w.hi, kAtanhSingle) : a.poly(w.hi, kAtanhDouble);
  c = a.fast_two_sum(c.hi, a.mad(b.fmul(w.hi, w.hi), p, c.lo));
  // atanh s = s (1 + c).
  Pair t = a.two_prod(s.hi, c.hi);
  Value low = b.fadd(t.lo, a.mad(s.hi, c.lo, a.mad(s.lo, c.hi, s.lo)));
  Pair sum = a.fast_two_sum(s.hi, t.hi);
  sum = a.fast_two_sum(sum.hi, b.fadd(sum.lo, low));
  return times(a, sum, a.wide() ? kTwoLog2EDouble : kTwoLog2ESingle);
}

// log2 x for positive finite x.
Pair log2_pair(const Arith& a, Value x) {
  Builder& b = a.b;
  const int up = a.mantissa_bits() + 2;
  Value tiny = b.flt(x, a.c(a.wide() ? 0x1p-1022 : 0x1p-126));
  Value normal = b.select(tiny, b.fmul(x, a.c(std::ldexp(1.0, up))), x);
  Split split = split_exponent(a, normal);
  Value e = b.sub(split.exponent, b.select(tiny, a.i(up), a.i(0)));
  Pair m = log2_mantissa(a, split.mantissa);
  Pair sum = a.fast_two_sum(a.int_to_float(e), m.hi);
  return a.fast_two_sum(sum.hi, b.fadd(sum.lo, m.lo));
}

// x^y for positive finite x.
Value pow_positive(const Arith& a, Value x, Value y) {
  Builder& b = a.b;
  // log2 x is 0 or at least 2^-53 (2^-24): a larger y changes nothing, but overflows on the way.
  const double y_bound = a.single ? 0x1p40 : 0x1p70, bound = a.single ? 200.0 : 1100.0;
  Value small_y = a.at_least(a.at_most(y, y_bound), -y_bound);
  Pair log2 = log2_pair(a, x);
  Pair p = a.two_prod(small_y, log2.hi);
  p.lo = a.mad(small_y, log2.lo, p.lo);
  Value inside = b.flt(b.fabs(p.hi), a.c(bound));
  Value high = a.at_least(a.at_most(p.hi, bound), -bound);
  return scale(a, exp2_parts(a, high, b.select(inside, p.lo, a.c(0.0))));
}

}  // namespace

// The special values are C23's, F.10.4.4.
Value pow(Builder& b, Value base, Value exponent) {
  return in_working_type(
      b, Widen::unless_fused,
      [](const Arith& a, Value x, Value y) {
        Builder& bb = a.b;
        Value zero = a.c(0.0), ax = bb.fabs(x);
        Value r = pow_positive(a, ax, y);
        Value is_zero = bb.feq(x, zero), y_negative = bb.flt(y, zero);
        Value extreme = bb.or_(is_zero, bb.feq(ax, a.infinity()));
        Value vanishes = bb.xor_(is_zero, y_negative);
        r = bb.select(extreme, bb.select(vanishes, zero, a.infinity()), r);

        Value half = bb.fmul(y, a.c(0.5));
        Value integer = bb.feq(bb.ftrunc(y), y), even = bb.feq(bb.ftrunc(half), half);
        Value negative = bb.slt(a.bits(x), a.i(0));
        Value odd = bb.and_(integer, bb.not_(even));
        r = bb.select(bb.and_(negative, odd), bb.fneg(r), r);
        Value invalid = bb.and_(bb.and_(negative, bb.not_(extreme)), bb.not_(integer));
        invalid = bb.or_(invalid, bb.or_(a.is_nan(x), a.is_nan(y)));
        r = bb.select(invalid, a.nan(), r);
        Value one = bb.or_(bb.feq(y, zero), bb.feq(x, a.c(1.0)));
        return bb.select(one, a.c(1.0), r);
      },
      base, exponent);
}

}  // namespace primset::kir::math
