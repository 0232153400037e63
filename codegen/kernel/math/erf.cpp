// erf, erfc and the normal distribution function.
#include <cmath>

#include "codegen/kernel/math/exp.h"
#include "codegen/kernel/math/math.h"

namespace primset::kir::math {
namespace {

// erf(x)/x - 1 in x^2, up to kLowEnd; relative error of erf 2^-28.2 and 2^-56.
constexpr double kLowEndSingle = 1.0625, kLowEndDouble = 1.0;
constexpr double kErfLowSingle[] = {0x1.06eba8p-3, -0x1.812738p-2,  0x1.ce2b8ap-4, -0x1.b7ddb2p-6,
                                    0x1.53244ap-8, -0x1.9d6fa8p-11, 0x1.378456p-14};
constexpr double kErfLowDouble[] = {
    0x1.06eba8214db68p-3,  -0x1.812746b03799dp-2,  0x1.ce2f21a03f8bdp-4,  -0x1.b82ce311a9a9ap-6,
    0x1.565bcceee4a64p-8,  -0x1.c02daeb9673b6p-11, 0x1.f9a297030dca6p-14, -0x1.f4c83511f9790p-17,
    0x1.b96ba0b955b17p-20, -0x1.5b8e7fd012b56p-23, 0x1.d3ee331cca103p-27, -0x1.a275b797993dep-31};

// erfc(2.5 + u) for 1.0625 <= 2.5 + u <= 3.93, absolute error 2^-25.7: enough for 1 - erfc.
constexpr double kErfcHighSingle[] = {
    0x1.aab44cp-12,  -0x1.1d7f92p-9,  0x1.64f030p-8,   -0x1.11ac06p-7,  0x1.1a5964p-7,
    -0x1.905d86p-8,  0x1.7100b0p-9,   -0x1.25b79cp-11, -0x1.295ee6p-12, 0x1.1b8610p-12,
    -0x1.09275ep-14, -0x1.27dac6p-16, 0x1.39c07cp-17,  -0x1.18200cp-21};

// -log(erfc(2 + u)) for 1 <= 2 + u <= 5.95, absolute error of erfc 2^-59.
constexpr double kLogErfcDouble[] = {
    0x1.575b329b1f516p+2,   0x1.1ac3258a8dc2dp+2,   0x1.d8f5dece92352p-1,   0x1.0dc3b5fb0aaa0p-6,
    -0x1.d406b37428206p-9,  0x1.7ffcfb4bc17d1p-11,  -0x1.1bc3a5995a546p-13, 0x1.5b656fde54b01p-16,
    -0x1.0604c48aa4cbdp-19, -0x1.b54de8a4ba688p-23, 0x1.73f31adf09218p-23,  -0x1.f08981e00fa9ep-25,
    0x1.df60b4cf52bb4p-27,  -0x1.5c640d82ba926p-29, 0x1.2d10ad9ca15f1p-32,  0x1.6fae18f4156c3p-35,
    -0x1.46c46cc9873ffp-35, 0x1.69627cecb2b69p-37,  -0x1.2fa1514b43c86p-40};

// (x + 3) e^(x^2) erfc(x) in t = (x - 3)/(x + 3), x up to 10.1 (27.3); relative error 2^-26.9 and
// 2^-58.2. The first f64 coefficient goes on in kErfcDoubleTail.
constexpr double kErfcScale = 3.0;
constexpr double kErfcSingle[] = {0x1.12f21ep+0,   -0x1.c44c48p-1, 0x1.2e3256p-1,   -0x1.3deadep-2,
                                  0x1.e99cc8p-4,   -0x1.b7b216p-6, -0x1.45d3e2p-10, 0x1.923906p-9,
                                  -0x1.ea701ap-12, -0x1.47ebcap-12};
constexpr double kErfcDouble[] = {
    0x1.12f21ddd9f5e2p+0,   -0x1.c44c471baa376p-1,  0x1.2e326945de2b6p-1,   -0x1.3deb21415dcecp-2,
    0x1.e995f11b17324p-4,   -0x1.b78993d6a8779p-6,  -0x1.3dd3e711d8209p-10, 0x1.8dae3a2187d2bp-9,
    -0x1.1f78e1123965ep-11, -0x1.2238fc3c50cc3p-12, 0x1.c325276a06d99p-14,  0x1.fdfeeaecf8eccp-16,
    -0x1.25198093d2e8dp-16, -0x1.3eb3b4a141214p-18, 0x1.72fe4d5395149p-19,  0x1.0bfb2e3661078p-20,
    -0x1.b3c63ceb9ddd5p-22, -0x1.f2e4b515b02b4p-23, 0x1.7a57d8c07b00dp-25,  0x1.a4b7127001616p-25,
    -0x1.2aa7bceb85902p-33, -0x1.e67b90574ca5ap-28, -0x1.db8db6199e311p-31, 0x1.6596277de01c6p-32};
constexpr double kErfcDoubleTail = -0x1.93219f5fa0000p-54;

// (w + 4) e^(w^2/2) Phi(-w) in t = (w - 4)/(w + 4), w up to 14.5; relative error 2^-25.7.
constexpr double kNormalScale = 4.0;
constexpr double kNormalSingle[] = {0x1.82b4bcp-1,  -0x1.373e3ap-1, 0x1.8c6d76p-2,  -0x1.7dff66p-3,
                                    0x1.eee1bp-5,   -0x1.ed904cp-8, -0x1.cfbb46p-9, 0x1.9c1a6ep-10,
                                    0x1.c073a8p-13, -0x1.df8bd8p-14};

Value erf_low(const Arith& a, Value x) {
  Value x2 = a.b.fmul(x, x);
  return a.mad(x, a.single ? a.poly(x2, kErfLowSingle) : a.poly(x2, kErfLowDouble), x);
}

// 1 - erfc z where erfc is the lesser part.
Value erf_high(const Arith& a, Value z) {
  Builder& b = a.b;
  if (a.single) {
    return b.fsub(a.c(1.0), a.poly(b.fsub(a.at_most(z, 3.93), a.c(2.5)), kErfcHighSingle));
  }
  Value q = a.poly(b.fsub(a.at_most(z, 5.95), a.c(2.0)), kLogErfcDouble);
  // Below the range of the polynomial the lane takes erf_low; e^-q stays finite there.
  Exponential e = exp_parts(a, b.fneg(a.at_most(q, 40.0)));
  Value power = a.pow2_biased(b.sub(e.n, a.i(a.bias())));
  return a.nmad(e.factor, power, a.c(1.0));
}

// The polynomial, and what the last sum's rounding cut off: its coefficients alternate for large x.
Pair erfc_polynomial(const Arith& a, Value t) {
  std::span<const double> table = a.single ? std::span<const double>(kErfcSingle) : kErfcDouble;
  Value rest = a.b.fmul(t, a.poly(t, table.subspan(1)));
  Pair p = a.fast_two_sum(a.c(table[0]), rest);
  if (!a.single) p.lo = a.b.fadd(p.lo, a.c(kErfcDoubleTail));
  return p;
}

// e^(-z^2) P(t) / (z + 3), after Shepherd and Laframboise, Chebyshev approximation of
// (1 + 2x) exp(x^2) erfc x, Mathematics of Computation 36 (1981), who divide by another factor.
// The argument is z + rest, where only the exponential notices the rest.
Exponential erfc_positive(const Arith& a, Value z, Value rest = {}) {
  Builder& b = a.b;
  Pair sum = a.two_sum(z, a.c(kErfcScale));
  Value inverse = a.div(a.c(1.0), sum.hi);
  // What inverse * (z + 3) lacks of 1 makes up for the rounding of both.
  Pair one = a.two_prod(inverse, sum.hi);
  Value lack = b.fsub(b.fsub(a.c(1.0), one.hi), a.mad(inverse, sum.lo, one.lo));
  Pair product = a.two_prod(b.fsub(z, a.c(kErfcScale)), inverse);
  Value t = b.fadd(product.hi, a.mad(product.hi, lack, product.lo));
  Pair p = erfc_polynomial(a, t);
  Pair square = a.two_prod(z, z);
  if (rest.valid()) square.lo = a.mad(b.fadd(z, z), rest, square.lo);
  Exponential e = exp_parts(a, b.fneg(square.hi), b.fneg(square.lo));
  Pair main = a.two_prod(p.hi, inverse);
  Value correction = a.mad(main.hi, lack, a.mad(p.lo, inverse, main.lo));
  return {b.fmul(e.factor, b.fadd(main.hi, correction)), e.n};
}

// The same in f32 with every sum rounded once.
Value erfc_positive_single(const Arith& a, Value z) {
  Builder& b = a.b;
  Value inverse = a.div(a.c(1.0), b.fadd(z, a.c(kErfcScale)));
  Value p = a.poly(b.fmul(b.fsub(z, a.c(kErfcScale)), inverse), kErfcSingle);
  return times_gaussian(a, b.fmul(p, inverse), z, 1.0);
}

// Phi(-w) as erfc is found above, from w itself: a quotient w / sqrt(2) would have to be exact.
Value normal_tail_single(const Arith& a, Value w) {
  Builder& b = a.b;
  const Value sum = b.fadd(w, a.c(kNormalScale));
  Value inverse = b.target().fast_exp2 && a.fused ? b.freciprocal(sum) : a.div(a.c(1.0), sum);
  Value t = a.nmad(a.c(2 * kNormalScale), inverse, a.c(1.0));
  Value p = a.poly(t, kNormalSingle);
  return times_gaussian(a, b.fmul(p, inverse), w, 0.5);
}

// 1 / sqrt(2) in two parts.
constexpr double kHalfRoot = 0x1.6a09e667f3bcdp-1, kHalfRootRest = -0x1.bdd3413b26456p-55;

// Phi(-w) = erfc(w / sqrt(2)) / 2, and near 0 by erf, with which Phi is 1/2 -+ erf / 2.
Value normal_cdf_double(const Arith& a, Value v, Value w) {
  Builder& b = a.b;
  Pair z = a.two_prod(w, a.c(kHalfRoot));
  Exponential tail = erfc_positive(a, z.hi, a.mad(w, a.c(kHalfRootRest), z.lo));
  Value left = scale(a, {b.fmul(tail.factor, a.c(0.5)), tail.n});
  Value r = b.select(b.flt(v, a.c(0.0)), left, b.fsub(a.c(1.0), left));
  Value near = a.mad(erf_low(a, b.fmul(v, a.c(kHalfRoot))), a.c(0.5), a.c(0.5));
  return b.select(b.flt(z.hi, a.c(0.75)), near, r);
}

}  // namespace

Value erf(Builder& b, Value x) {
  return in_working_type(
      b, Widen::never,
      [](const Arith& a, Value v) {
        Value z = a.b.fabs(v);
        Value low = a.b.flt(z, a.c(a.single ? kLowEndSingle : kLowEndDouble));
        return a.b.select(low, erf_low(a, v), a.with_sign(erf_high(a, z), v));
      },
      x);
}

Value erfc(Builder& b, Value x) {
  return in_working_type(
      b, Widen::never,
      [](const Arith& a, Value v) {
        Builder& bb = a.b;
        Value z = a.at_most(bb.fabs(v), a.single ? 10.1 : 27.3);
        Value right = a.single ? erfc_positive_single(a, z) : scale(a, erfc_positive(a, z));
        Value r = bb.select(bb.flt(v, a.c(0.0)), bb.fsub(a.c(2.0), right), right);
        if (a.single) return r;
        return bb.select(bb.flt(bb.fabs(v), a.c(0.75)), bb.fsub(a.c(1.0), erf_low(a, v)), r);
      },
      x);
}

Value normal_cdf(Builder& b, Value x) {
  return in_working_type(
      b, Widen::never,
      [](const Arith& a, Value v) {
        Builder& bb = a.b;
        Value w = a.at_most(bb.fabs(v), a.single ? 14.5 : 38.6);
        if (!a.single) return normal_cdf_double(a, v, w);
        Value left = normal_tail_single(a, w);
        return bb.select(bb.flt(v, a.c(0.0)), left, bb.fsub(a.c(1.0), left));
      },
      x);
}

}  // namespace primset::kir::math
