// log, log2, log10 and log1p.
//
// log x = e ln 2 + log(1 + f), where x = 2^e (1 + f) and f is exact; log(1 + f) =
// f + f^2 (f Q(f) - 1/2) with a minimax polynomial Q, no division (Cody and Waite 1980, chapter 5;
// Tang, Table-driven implementation of the logarithm function, 1990, for the order of the sums).
#include "codegen/kernel/math/log.h"

#include <cmath>

#include "codegen/kernel/math/math.h"

namespace primset::kir::math {
namespace {

// (log(1+f) - f + f^2/2) / f^3 for 1 + f from sqrt(1/2) to sqrt(2); relative error of log(1 + f)
// 2^-30.3 and 2^-59.3.
constexpr double kLogSingle[] = {0x1.555548p-2,  -0x1.000006p-2, 0x1.99a474p-3,
                                 -0x1.555c3ep-3, 0x1.233bd8p-3,  -0x1.fc2a06p-4,
                                 0x1.e6bdcep-4,  -0x1.ddf9a6p-4, 0x1.146ea4p-4};
constexpr double kLogDouble[] = {
    0x1.555555555556bp-2, -0x1.ffffffffffe8ap-3, 0x1.9999999994dc6p-3, -0x1.555555556a7f2p-3,
    0x1.249249275b7e8p-3, -0x1.fffffff3f8fd3p-4, 0x1.c71c702f5c7bap-4, -0x1.99999a95aa18cp-4,
    0x1.745d58a03616fp-4, -0x1.555577880e8edp-4, 0x1.3b0d7cf236e66p-4, -0x1.248943eec77f0p-4,
    0x1.1169cae37020bp-4, -0x1.00cfc3942e183p-4, 0x1.dc9ad28c3bdbdp-5, -0x1.b45f737be2805p-5,
    0x1.bba12ae5feeabp-5, -0x1.010192cb97166p-4, 0x1.d2c0ed3322123p-5, -0x1.8de6058847a94p-6};

// The same in four terms, 2^-16.3: enough of a result of f16 or bf16.
constexpr double kLogOfHalf[] = {0x1.54d7dcp-2, -0x1.028376p-2, 0x1.bdfc08p-3, -0x1.2acbb2p-3};

// A constant in two parts; high * e is exact for every exponent e.
struct Split2 {
  double high, low;
};

// log_base(2) and log_base(e), the latter high for a product with f.
struct Base {
  Split2 two_single, two_double;
  Split2 e_single, e_double;
};
constexpr Base kNatural = {{0x1.62e4p-1, 0x1.7f7d1cp-20},
                           {0x1.62e42fefa38p-1, 0x1.ef35793c7673p-45},
                           {1.0, 0.0},
                           {1.0, 0.0}};
constexpr Base kBinary = {{1.0, 0.0},
                          {1.0, 0.0},
                          {0x1.715476p+0, 0x1.4ae0cp-26},
                          {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56}};
constexpr Base kDecimal = {{0x1.344p-2, 0x1.3509f8p-18},
                           {0x1.34413509f78p-2, 0x1.fef311f12b358p-46},
                           {0x1.bcb7b2p-2, -0x1.5b235ep-27},
                           {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57}};

// log(1 + f) - f.
Value log1p_tail(const Arith& a, Value f) {
  Value q = a.single ? a.poly(f, kLogSingle) : a.poly(f, kLogDouble);
  return a.b.fmul(a.b.fmul(f, f), a.mad(f, q, a.c(-0.5)));
}

// e log 2 + log(1 + f), the exponent as a float.
Value log_sum(const Arith& a, const Base& base, Value e, Value f) {
  Builder& b = a.b;
  const Split2 two = a.wide() ? base.two_double : base.two_single;
  const Split2 unit = a.wide() ? base.e_double : base.e_single;
  Value tail = log1p_tail(a, f);
  if (unit.high == 1.0) {
    Pair s = a.fast_two_sum(b.fmul(e, a.c(two.high)), f);
    return b.fadd(s.hi, b.fadd(tail, a.mad(e, a.c(two.low), s.lo)));
  }
  tail = a.mad(f, a.c(unit.low), b.fmul(tail, a.c(unit.high)));
  if (two.low != 0) tail = a.mad(e, a.c(two.low), tail);
  if (a.fused) return a.mad(e, a.c(two.high), a.mad(f, a.c(unit.high), tail));
  Pair p = a.two_prod(f, a.c(unit.high));
  return b.fadd(b.fmul(e, a.c(two.high)), b.fadd(p.hi, b.fadd(p.lo, tail)));
}

Value log_core(const Arith& a, const Base& base, Value x, Value add_to_exponent) {
  Split s = split_exponent(a, x);
  Value e = a.int_to_float(s.exponent);
  if (add_to_exponent.valid()) e = a.b.fadd(e, add_to_exponent);
  return log_sum(a, base, e, a.b.fsub(s.mantissa, a.c(1.0)));
}

// log x for zero, negative, infinite and NaN x, and `otherwise` for the rest.
Value log_special(const Arith& a, Value x, Value otherwise) {
  Builder& b = a.b;
  Value r = b.select(b.feq(x, a.c(0.0)), b.fneg(a.infinity()), otherwise);
  r = b.select(b.flt(x, a.c(0.0)), a.nan(), r);
  return b.select(b.or_(b.feq(x, a.infinity()), a.is_nan(x)), x, r);
}

// The logarithm of any x: by `core` of most.
template <class F>
Value with_special(const Arith& a, Value x, const Base& base, F&& core) {
  return fix_rare(a.b, outside_log(a, x), core(), [&] {
    const int up = a.mantissa_bits() + 2;
    Value normal = a.b.fmul(x, a.c(std::ldexp(1.0, up)));
    return log_special(a, x, log_core(a, base, normal, a.c(-up)));
  });
}

Value log_base(Builder& b, Value x, const Base& base) {
  Arith a(b, b.type(x), b.type(x).scalar == Scalar::f32);
  return with_special(a, x, base, [&] { return log_core(a, base, x, {}); });
}

Value log_base_of_half(Builder& b, Value x, const Base& base) {
  Arith a(b, b.type(x), true);
  return with_special(a, x, base, [&] {
    Split s = split_exponent(a, x);
    Value f = b.fsub(s.mantissa, a.c(1.0)), q = a.mad(f, a.poly(f, kLogOfHalf), a.c(-0.5));
    Value log_mantissa = a.mad(b.fmul(f, f), q, f), e = a.int_to_float(s.exponent);
    if (base.e_single.high != 1.0) log_mantissa = b.fmul(log_mantissa, a.c(base.e_single.high));
    return a.mad(e, a.c(base.two_single.high + base.two_single.low), log_mantissa);
  });
}

}  // namespace

// Subtracting the bits of sqrt(1/2) makes the exponent step at that mantissa.
Split split_exponent(const Arith& a, Value x) {
  Builder& b = a.b;
  const double root_half = a.wide() ? 0x1.6a09e667f3bcdp-1 : 0x1.6a09e6p-1;
  Value above = b.sub(a.bits(x), a.i(a.bits_of(root_half)));
  Value e = b.ashr(above, a.i(a.mantissa_bits()));
  return {e, a.from_bits(b.sub(a.bits(x), b.shl(e, a.i(a.mantissa_bits()))))};
}

Value outside_log(const Arith& a, Value x) {
  const int64_t first = int64_t{1} << a.mantissa_bits();
  const int64_t end = (2 * int64_t{a.bias()} + 1) << a.mantissa_bits();
  return a.b.ule(a.i(end - first), a.b.sub(a.bits(x), a.i(first)));
}

Value log(Builder& b, Value x) {
  return log_base(b, x, kNatural);
}
Value log2(Builder& b, Value x) {
  return log_base(b, x, kBinary);
}
Value log10(Builder& b, Value x) {
  return log_base(b, x, kDecimal);
}
Value log_of_half(Builder& b, Value x) {
  return log_base_of_half(b, x, kNatural);
}
Value log2_of_half(Builder& b, Value x) {
  return log_base_of_half(b, x, kBinary);
}
Value log10_of_half(Builder& b, Value x) {
  return log_base_of_half(b, x, kDecimal);
}

// With u = 1 + x rounded and its error c: log(u + c) takes f = mantissa(u) - 1 + c 2^-e.
Value log1p(Builder& b, Value x) {
  return in_working_type(
      b, Widen::never,
      [](const Arith& a, Value v) {
        Builder& bb = a.b;
        Pair u = a.two_sum(a.c(1.0), v);
        Split s = split_exponent(a, u.hi);
        // 2^(1-e), since 2^-e need not be a normal number.
        Value down = a.pow2_biased(bb.sub(a.i(a.bias() + 1), s.exponent));
        Value f = a.mad(bb.fmul(u.lo, a.c(0.5)), down, bb.fsub(s.mantissa, a.c(1.0)));
        Value r = log_sum(a, kNatural, a.int_to_float(s.exponent), f);
        Value tiny = bb.flt(bb.fabs(v), a.c(a.wide() ? 0x1p-55 : 0x1p-26));
        r = bb.select(tiny, v, r);
        return fix_rare(bb, outside_log(a, u.hi), r, [&] { return log_special(a, u.hi, r); });
      },
      x);
}

}  // namespace primset::kir::math
