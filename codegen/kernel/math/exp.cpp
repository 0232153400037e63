// exp, exp2, expm1 and tanh.
//
// e^x = 2^n * e^r with n = round(x / ln 2) and r = x - n ln 2, where ln 2 comes in two parts so
// that the first product is exact (Cody and Waite, Software Manual for the Elementary Functions,
// 1980); e^r is a polynomial that begins 1 + r, with minimax coefficients rounded one after another
// to the type, each time refitting the rest.
#include "codegen/kernel/math/exp.h"

#include <array>
#include <cmath>

#include "codegen/kernel/math/math.h"

namespace primset::kir::math {
namespace {

constexpr double kLog2E = 0x1.71547652b82fep+0;

// ln 2 = high + low; high leaves room for 8 (f32) and 11 bits (f64) of n.
struct LogTwo {
  double high, low;
};
constexpr LogTwo kLogTwoSingle = {0x1.62e4p-1, 0x1.7f7d1cp-20};
constexpr LogTwo kLogTwoDouble = {0x1.62e42fefa38p-1, 0x1.ef35793c7673p-45};

// log2(e) = high + low, where high is below it: x * high then has no power of two that overflows or
// is flushed where e^x is and does not.
constexpr double kLog2EHigh = 0x1.715474p+0, kLog2ELow = 0x1.295c18p-23;

// (e^r - 1 - r) / r^2 on |r| <= 0.3468; relative error of e^r 2^-28.2 and 2^-57.9.
constexpr double kExpSingle[] = {0x1.fffffcp-2, 0x1.555492p-3, 0x1.5558bp-5, 0x1.1239a6p-7,
                                 0x1.6a4ff6p-10};
constexpr double kExpDouble[] = {
    0x1.000000000000ap-1,  0x1.555555555550ap-3,  0x1.5555555550768p-5,  0x1.1111111124c88p-7,
    0x1.6c16c1844abddp-10, 0x1.a01a0136f61bap-13, 0x1.a01999d30c346p-16, 0x1.71df0de78cc8fp-19,
    0x1.28ad9b6060414p-22, 0x1.ad9f84426b66fp-26};

// The same for the relative error of e^r - 1: 2^-26.1 and 2^-61.6.
constexpr double kExpm1Single[] = {0x1.fffffep-2, 0x1.5554b4p-3, 0x1.5556f2p-5, 0x1.12254ap-7,
                                   0x1.6b9c68p-10};
constexpr double kExpm1Double[] = {
    0x1.0000000000000p-1,  0x1.5555555555559p-3,  0x1.5555555555558p-5,  0x1.111111110f701p-7,
    0x1.6c16c16c170dbp-10, 0x1.a01a01afa915dp-13, 0x1.a01a019c0e077p-16, 0x1.71ddf90305d0bp-19,
    0x1.27e4fba8c21afp-22, 0x1.af5d841b3362ep-26, 0x1.1f37c5ea5c92bp-29};

// (2^r - 1) / r on |r| <= 0.50025; relative error of 2^r 2^-28.3 and 2^-57.8.
constexpr double kExp2Single[] = {0x1.62e43p-1,  0x1.ebfbdcp-3,  0x1.c6af7ap-5,
                                  0x1.3b2dd4p-7, 0x1.5f0958p-10, 0x1.41780ep-13};
constexpr double kExp2Double[] = {
    0x1.62e42fefa39efp-1,  0x1.ebfbdff82c59dp-3,  0x1.c6b08d704a0e1p-5,  0x1.3b2ab6fba1051p-7,
    0x1.5d87fe78b16e5p-10, 0x1.4309130c40631p-13, 0x1.ffcbfc023bfffp-17, 0x1.62bfcd5a066d7p-20,
    0x1.b525fca8edc46p-24, 0x1.e6126b46acd2ep-28, 0x1.e8255f4fa6bb1p-32};

// (tanh z - z) / z^3 in z^2 on z <= 0.5625; relative error of tanh 2^-29.4 and 2^-59.8.
constexpr double kTanhSingle[] = {-0x1.555548p-2, 0x1.110c5ep-3, -0x1.b905c4p-5, 0x1.5811f4p-6,
                                  -0x1.9454c6p-8};
constexpr double kTanhDouble[] = {
    -0x1.555555555554bp-2,  0x1.1111111110247p-3,  -0x1.ba1ba1b92fb48p-5,  0x1.664f4847fa6f6p-6,
    -0x1.226e2cd6a2f98p-7,  0x1.d6d240ce03bacp-9,  -0x1.7d8b405d21f55p-10, 0x1.345dfb5269c1fp-11,
    -0x1.e7efc2c762411p-13, 0x1.592737c574f33p-14, -0x1.3c7286db19308p-16};

// x = n ln 2 + high + low. n comes plus 2*bias. low is invalid where high alone will do: the
// bounds of f32 leave room for one more rounding where the last products are fused with their sums.
struct Reduced {
  Value n, high, low;
};
Reduced reduce(const Arith& a, Value x, Value correction) {
  Builder& b = a.b;
  const LogTwo ln2 = a.wide() ? kLogTwoDouble : kLogTwoSingle;
  auto [f, n] = a.round_scaled(x, a.c(kLog2E), 2 * a.bias());
  Value first = a.nmad(f, a.c(ln2.high), x);
  if (a.single && a.fused) {
    Value high = a.nmad(f, a.c(ln2.low), first);
    return {n, correction.valid() ? b.fadd(high, correction) : high, {}};
  }
  Value second = b.fmul(f, a.c(-ln2.low));
  if (correction.valid()) second = b.fadd(second, correction);
  Pair r = a.fast_two_sum(first, second);
  return {n, r.hi, r.lo};
}

// 1 + r q(r) where the largest product has to be kept exact by hand.
Value exp2_unfused(const Arith& a, Value r) {
  Builder& b = a.b;
  std::span<const double> table = a.single ? std::span<const double>(kExp2Single) : kExp2Double;
  Pair first = a.two_prod(r, a.c(table[0]));
  Value rest = b.fmul(b.fmul(r, r), a.poly(r, table.subspan(1)));
  return b.fadd(a.c(1.0), b.fadd(first.hi, b.fadd(first.lo, rest)));
}

}  // namespace

double exp_high(const Arith& a) {
  return a.wide() ? 710.0 : 89.0;
}
double exp_low(const Arith& a) {
  return a.wide() ? -746.0 : -104.0;
}

Exponential exp_parts(const Arith& a, Value x, Value correction) {
  Builder& b = a.b;
  auto [n, r, low] = reduce(a, x, correction);
  Value q = a.single ? a.poly(r, kExpSingle) : a.poly(r, kExpDouble);
  if (!low.valid()) return {a.mad(r, a.mad(r, q, a.c(1.0)), a.c(1.0)), n};
  return {b.fadd(a.c(1.0), b.fadd(r, a.mad(b.fmul(r, r), q, low))), n};
}

Exponential fast_exp_parts(const Arith& a, Value x, Value correction) {
  if (!a.single || a.wide() || !a.fused || !a.b.target().fast_exp2)
    return exp_parts(a, x, correction);
  const Reduced r = reduce(a, x, correction);
  return {a.b.fexp2(a.b.fmul(r.high, a.c(kLog2E))), r.n};
}

Exponential exp2_parts(const Arith& a, Value x, Value correction) {
  Builder& b = a.b;
  auto [whole, n] = a.round(x, 2 * a.bias());
  Value r = b.fsub(x, whole);
  if (correction.valid()) r = b.fadd(r, correction);
  if (!a.fused && !(a.single && a.wide())) return {exp2_unfused(a, r), n};
  Value q = a.single ? a.poly(r, kExp2Single) : a.poly(r, kExp2Double);
  return {a.mad(r, q, a.c(1.0)), n};
}

Value scale(const Arith& a, Exponential e) {
  Builder& b = a.b;
  // An f32 result lies well inside f64's range.
  if (a.single && a.wide()) {
    return b.fmul(e.factor, a.pow2_biased(b.sub(e.n, a.i(a.bias()))));
  }
  return a.scale_twice_biased(e.factor, e.n);
}

// Where products are fused the square needs no rounding of its own: s = -z^2 - n ln 2 / k is found
// from z, and k is part of the polynomial's coefficients. n is never positive, so that a power of
// two lifted by as much as the result may lie too low, and a constant, scale it.
Value times_gaussian(const Arith& a, Value p, Value z, double k) {
  Builder& b = a.b;
  if (!a.fused || a.wide()) {
    Pair square = a.two_prod(b.fmul(z, a.c(k)), z);
    Exponential e = exp_parts(a, b.fneg(square.hi), b.fneg(square.lo));
    return scale(a, {b.fmul(e.factor, p), e.n});
  }
  constexpr int kLift = 64;
  auto [f, n] = a.round_scaled(b.fmul(z, z), a.c(-k * kLog2E), a.bias() + kLift);
  Value s = b.fma(b.fneg(z), z, b.fmul(f, a.c(-kLogTwoSingle.high / k)));
  s = a.nmad(f, a.c(kLogTwoSingle.low / k), s);
  Value factor;
  if (b.target().fast_exp2) {
    factor = b.fexp2(b.fmul(s, a.c(k * kLog2E)));
  } else {
    std::array<double, std::size(kExpSingle)> table;
    for (size_t i = 0; i < table.size(); ++i) table[i] = kExpSingle[i] * std::pow(k, i + 2);
    factor = a.mad(s, a.mad(s, a.poly(s, table), a.c(k)), a.c(1.0));
  }
  Value lifted = b.fmul(b.fmul(p, factor), a.pow2_biased(n));
  return b.fmul(lifted, a.c(std::ldexp(1.0, -kLift)));
}

// 2^n (e^r - 1) + (2^n - 1), with half the power of two so that n = 128 (1024) does not overflow.
Value expm1_core(const Arith& a, Value x) {
  Builder& b = a.b;
  auto [n, r, low] = reduce(a, x, {});
  Value q = a.single ? a.poly(r, kExpm1Single) : a.poly(r, kExpm1Double);
  Value r2 = b.fmul(r, r);
  Value p = low.valid() ? b.fadd(r, a.mad(r2, q, low)) : a.mad(r2, q, r);
  Value half = a.pow2_biased(b.sub(n, a.i(a.bias() + 1)));
  Value sum = a.mad(half, p, b.fsub(half, a.c(0.5)));
  return b.fadd(sum, sum);
}

// The device's power of two takes any exponent, so nothing is to be reduced: what is lost where the
// exponent x log2(e) is rounded is a factor near one. Where x is infinite, or so great that the
// power is 0 or infinite, it still has to be some number between 1/2 and 2: these begin with byte
// 3f.
Value exp_of_device(const Arith& a, Value x) {
  Builder& b = a.b;
  Value exponent = b.fmul(x, a.c(kLog2EHigh));
  Value rest = b.fma(x, a.c(kLog2ELow), b.fma(x, a.c(kLog2EHigh), b.fneg(exponent)));
  Value factor = a.bits(b.fma(rest, a.c(kLogTwoSingle.high + kLogTwoSingle.low), a.c(1.0)));
  factor = b.or_(b.and_(factor, a.i(0xffffff)), a.i(0x3f000000));
  return b.fmul(b.fexp2(exponent), a.from_bits(factor));
}

// Powers below the least normal number are lost.
bool has_exp_of_device(const Arith& a) {
  const TargetModel& t = a.b.target();
  return a.single && !a.wide() && a.fused && t.fast_exp2 && t.flush_denormals_f32;
}

Value exp(Builder& b, Value x) {
  return in_working_type(
      b, Widen::never,
      [](const Arith& a, Value v) {
        if (has_exp_of_device(a)) return exp_of_device(a, v);
        return scale(a, fast_exp_parts(a, a.at_least(a.at_most(v, exp_high(a)), exp_low(a))));
      },
      x);
}

Value exp2(Builder& b, Value x) {
  return in_working_type(
      b, Widen::unless_fused,
      [](const Arith& a, Value v) {
        const double high = a.single ? 129.0 : 1025.0, low = a.single ? -151.0 : -1076.0;
        return scale(a, exp2_parts(a, a.at_least(a.at_most(v, high), low)));
      },
      x);
}

Value expm1(Builder& b, Value x) {
  return in_working_type(
      b, Widen::never,
      [](const Arith& a, Value v) {
        Value clamped = a.at_least(a.at_most(v, exp_high(a)), a.wide() ? -40.0 : -20.0);
        // x + x^2/2 rounds to x here; also keeps denormals and the sign of zero.
        Value tiny = a.b.flt(a.b.fabs(v), a.c(a.wide() ? 0x1p-55 : 0x1p-26));
        return a.b.select(tiny, v, expm1_core(a, clamped));
      },
      x);
}

// An odd polynomial up to 9/16, 1 - 2 / (e^(2|x|) + 1) from there. Past the bound that rounds to 1.
Value tanh(Builder& b, Value x) {
  return in_working_type(
      b, Widen::never,
      [](const Arith& a, Value v) {
        Builder& bb = a.b;
        Value z = a.at_most(bb.fabs(v), a.single ? 9.5 : 20.0), z2 = bb.fmul(z, z);
        Value p = a.single ? a.poly(z2, kTanhSingle) : a.poly(z2, kTanhDouble);
        Value low = a.mad(bb.fmul(z, z2), p, z);
        Exponential e = exp_parts(a, bb.fadd(z, z));
        Value power = a.pow2_biased(bb.sub(e.n, a.i(a.bias())));
        Value high = bb.fsub(a.c(1.0), a.div(a.c(2.0), a.mad(e.factor, power, a.c(1.0))));
        return a.with_sign(bb.select(bb.flt(z, a.c(0.5625)), low, high), v);
      },
      x);
}

}  // namespace primset::kir::math
