// Bessel and Airy functions by Cephes' rational and Chebyshev approximations.
#include <array>
#include <numbers>

#include "decomps/primitives/special.h"
#include "decomps/primitives/special/approximation.h"
#include "decomps/primitives/special/coefficients.h"

namespace primset::decomps::prim {
namespace {

using math::number;
using Table = std::span<const double>;

constexpr double kInfinity = math::kInfinity;
constexpr double kTwoOverPi = 2 / std::numbers::pi;

// --- of the first and second kind ---

// Both kinds beyond 5: modulus and phase by expansions in 25 / x^2.
struct Phase {
  Table pp, pq, qp, qq;
  double shift;
};
const Phase kPhase0{tables::kJ0Pp, tables::kJ0Pq, tables::kJ0Qp, tables::kJ0Qq,
                    std::numbers::pi / 4};
const Phase kPhase1{tables::kJ1Pp, tables::kJ1Pq, tables::kJ1Qp, tables::kJ1Qq,
                    3 * std::numbers::pi / 4};

Val far(const Val& x, const Phase& phase, bool second_kind) {
  const Val w = number(x, 5.0) / x, z = w * w;
  const Val pp = math::polynomial(z, phase.pp), pq = math::polynomial(z, phase.pq);
  const Val qp = math::polynomial(z, phase.qp) * w, qq = math::monic_polynomial(z, phase.qq);
  const Val angle = x - Scalar(phase.shift);
  const Val c = math::cos(angle), s = math::sin(angle), p = pp * qq, q = qp * pq;
  const Val wave = second_kind ? p * s + q * c : p * c - q * s;
  return wave / (pq * qq) * math::sqrt(w * Scalar(kTwoOverPi / 5));
}

// `near` up to 5.
Val value_of(const Val& x, const Val& near, const Phase& phase, bool second_kind) {
  const Val at = gt(x, Scalar(5.0));
  const auto beyond = [&](const Val& v, const auto&) { return far(v, phase, second_kind); };
  return where(at, math::seldom(at, x, {}, beyond), near);
}

// Of x >= 0; the squares of the first two zeros are taken out near 0.
Val j0_near(const Val& x) {
  const Val z = x * x;
  const Val near = (z - Scalar(5.78318596294678452118e+00)) *
                   (z - Scalar(3.04712623436620863991e+01)) * math::polynomial(z, tables::kJ0Rp) /
                   math::monic_polynomial(z, tables::kJ0Rq);
  return where(lt(x, Scalar(0.00001)), Scalar(1.0) - z * Scalar(0.25), near);
}
// x comes last: the others would multiply what a denormal has lost.
Val j1_near(const Val& x) {
  const Val z = x * x;
  return math::polynomial(z, tables::kJ1Rp) / math::monic_polynomial(z, tables::kJ1Rq) *
         (z - Scalar(1.46819706421238932572e+01)) * (z - Scalar(4.92184563216946036703e+01)) * x;
}

Val j0_of(const Val& x) {
  return value_of(x, j0_near(x), kPhase0, false);
}
Val j1_of(const Val& x) {
  return value_of(x, j1_near(x), kPhase1, false);
}

// Of the second kind; no values below 0.
Val second_kind(const Val& x, const Val& near, const Phase& phase) {
  const Val y = value_of(x, near, phase, true);
  const Val pole = where(eq(x, Scalar(0.0)), number(x, -kInfinity), y);
  return where(lt(x, Scalar(0.0)), number(x, math::kNan), pole);
}

Val y0_of(const Val& x) {
  const Val z = x * x;
  const Val near = math::polynomial(z, tables::kY0Yp) / math::monic_polynomial(z, tables::kY0Yq) +
                   math::log(x) * j0_near(x) * Scalar(kTwoOverPi);
  return second_kind(x, near, kPhase0);
}

Val y1_of(const Val& x) {
  const Val z = x * x;
  const Val near =
      x * (math::polynomial(z, tables::kY1Yp) / math::monic_polynomial(z, tables::kY1Yq)) +
      (j1_near(x) * math::log(x) - number(x, 1.0) / x) * Scalar(kTwoOverPi);
  return second_kind(x, near, kPhase1);
}

// --- modified ---

// Both by e^-|x|, of x >= 0: up to 8, and beyond.
Val i0_near(const Val& x) {
  return math::chebyshev(x * Scalar(0.5) - Scalar(2.0), tables::kI0Near);
}
Val i1_near(const Val& x) {
  return math::chebyshev(x * Scalar(0.5) - Scalar(2.0), tables::kI1Near) * x;
}
Val i_far(const Val& x, Table table) {
  const Val inverse = number(x, 1.0) / x;
  return math::chebyshev(inverse * Scalar(32.0) - Scalar(2.0), table) * math::sqrt(inverse);
}
Val i_scaled(const Val& x, const Val& near, Table far_table) {
  const Val at = gt(x, Scalar(8.0));
  const auto beyond = [&](const Val& v, const auto&) { return i_far(v, far_table); };
  return where(at, math::seldom(at, x, {}, beyond), near);
}
Val i0_scaled(const Val& x) {
  return i_scaled(x, i0_near(x), tables::kI0Far);
}
Val i1_scaled(const Val& x) {
  return i_scaled(x, i1_near(x), tables::kI1Far);
}

Val i0_of(const Val& x) {
  const Val a = math::abs(x);
  return math::exp(a) * i0_scaled(a);
}
Val i1_of(const Val& x) {
  const Val a = math::abs(x), y = math::exp(a) * i1_scaled(a);
  return where(lt(x, Scalar(0.0)), -y, y);
}

// Up to 2 it is series + log(x / 2) i, where i stands for `scaled_i` times e^x; beyond, another
// series by e^x. No values below 0.
struct Near {
  Val series, scaled_i;
};
Val k_of(const Val& x, const Near& near, Table far_table, bool scaled) {
  const Val inner = le(x, Scalar(2.0)), inverse = number(x, 1.0) / x;
  const Val series =
      math::chebyshev(inverse * Scalar(8.0) - Scalar(2.0), far_table) * math::sqrt(inverse);
  // Half of the least number is 0.
  const Val tiny = lt(x, Scalar(1e-30));
  const Val log = math::log(where(tiny, x, x * Scalar(0.5))) -
                  where(tiny, number(x, std::numbers::ln2), number(x, 0.0));
  const Val power = math::exp(where(inner, x, -x));
  const Val usual = near.series + log * (power * near.scaled_i);
  const Val y = scaled ? where(inner, usual * power, series) : where(inner, usual, power * series);
  const Val pole = where(eq(x, Scalar(0.0)), number(x, kInfinity), y);
  return where(lt(x, Scalar(0.0)), number(x, math::kNan), pole);
}

Val k0_of(const Val& x, bool scaled) {
  const Val series = math::chebyshev(x * x - Scalar(2.0), tables::kK0Near);
  return k_of(x, {series, -i0_near(x)}, tables::kK0Far, scaled);
}
Val k1_of(const Val& x, bool scaled) {
  const Val series = math::chebyshev(x * x - Scalar(2.0), tables::kK1Near) / x;
  return k_of(x, {series, i1_near(x)}, tables::kK1Far, scaled);
}

// --- Airy's ---

constexpr double kRootOneOverPi = 5.64189583547756286948e-01;

// Below -2.09 a damped wave.
Val airy_wave(const Val& x) {
  const Val root = math::sqrt(-x), zeta = x * root * Scalar(-2.0) / Scalar(3.0);
  const Val z = number(x, 1.0) / zeta, zz = z * z;
  const Val f =
      math::polynomial(zz, tables::kAiryAfn) / math::monic_polynomial(zz, tables::kAiryAfd);
  const Val g =
      math::polynomial(zz, tables::kAiryAgn) / math::monic_polynomial(zz, tables::kAiryAgd);
  const Val angle = zeta + Scalar(0.25 * std::numbers::pi);
  return (math::sin(angle) * (zz * f + Scalar(1.0)) - math::cos(angle) * z * g) *
         Scalar(kRootOneOverPi) / math::sqrt(root);
}

// From 2.09 on it falls off exponentially.
Val airy_tail(const Val& x) {
  const Val root = math::sqrt(x), zeta = x * root * Scalar(2.0) / Scalar(3.0);
  const Val z = number(x, 1.0) / zeta;
  const Val ratio = math::polynomial(z, tables::kAiryAn) / math::polynomial(z, tables::kAiryAd);
  return ratio * Scalar(kRootOneOverPi / 2) / math::sqrt(root) * math::exp(-zeta);
}

// Maclaurin's series. Within 2.09 of 0 what is left out after 15 terms is below the precision of
// f64.
Val airy_series(const Val& x) {
  constexpr int kTerms = 15;
  const Val z = x * x * x;
  Val f = number(x, 1.0), g = x, m = f, n = g;
  double k = 1;
  for (int i = 0; i < kTerms; ++i) {
    m = m * z * Scalar(1 / ((k + 1) * (k + 2)));
    n = n * z * Scalar(1 / ((k + 2) * (k + 3)));
    f = f + m;
    g = g + n;
    k += 3;
  }
  return f * Scalar(0.355028053887817239260) - g * Scalar(0.258819403792806798405);
}

Val airy_of(const Val& x) {
  const Val inner = airy_series(x);
  const Val y =
      where(lt(x, Scalar(-2.09)), airy_wave(x), where(ge(x, Scalar(2.09)), airy_tail(x), inner));
  const Val vanished = where(gt(x, Scalar(103.892)), number(x, 0.0), y);
  return where(math::is_infinite(x), number(x, math::kNan), vanished);
}

// sin(x) / x; by its series near 0.
Val j0_spherical(const Val& x) {
  constexpr std::array<double, 7> kSeries = {
      1 / 6227020800.0, -1 / 39916800.0, 1 / 362880.0, -1 / 5040.0, 1 / 120.0, -1 / 6.0, 1.0};
  const Val near = math::polynomial(x * x, kSeries), far = math::sin(x) / x;
  const Val y = where(lt(math::abs(x), Scalar(0.5)), near, far);
  return where(math::is_infinite(x), number(x, 0.0), y);
}

// Of a function that is computed for x >= 0 alone.
Val odd(Val (*f)(const Val&), const Val& x) {
  const Val y = f(math::abs(x));
  return where(lt(x, Scalar(0.0)), -y, y);
}

}  // namespace

Val bessel_j0::decompose(Tracer&, const Val& x) {
  return math::rounded(j0_of(math::abs(opmath(x))), x);
}
Val bessel_j1::decompose(Tracer&, const Val& x) {
  return math::rounded(odd(j1_of, opmath(x)), x);
}
Val bessel_y0::decompose(Tracer&, const Val& x) {
  return math::rounded(y0_of(opmath(x)), x);
}
Val bessel_y1::decompose(Tracer&, const Val& x) {
  return math::rounded(y1_of(opmath(x)), x);
}

Val bessel_i0::decompose(Tracer&, const Val& x) {
  return math::rounded(i0_of(opmath(x)), x);
}
Val bessel_i0e::decompose(Tracer&, const Val& x) {
  return math::rounded(i0_scaled(math::abs(opmath(x))), x);
}
Val bessel_i1::decompose(Tracer&, const Val& x) {
  return math::rounded(i1_of(opmath(x)), x);
}
Val bessel_i1e::decompose(Tracer&, const Val& x) {
  return math::rounded(odd(i1_scaled, opmath(x)), x);
}

Val bessel_k0::decompose(Tracer&, const Val& x) {
  return math::rounded(k0_of(opmath(x), false), x);
}
Val bessel_k1::decompose(Tracer&, const Val& x) {
  return math::rounded(k1_of(opmath(x), false), x);
}
Val bessel_k0e::decompose(Tracer&, const Val& x) {
  return math::rounded(k0_of(opmath(x), true), x);
}
Val bessel_k1e::decompose(Tracer&, const Val& x) {
  return math::rounded(k1_of(opmath(x), true), x);
}

Val spherical_bessel_j0::decompose(Tracer&, const Val& x) {
  return math::rounded(j0_spherical(opmath(x)), x);
}

Val airy_ai::decompose(Tracer&, const Val& x) {
  return math::rounded(airy_of(opmath(x)), x);
}

}  // namespace primset::decomps::prim
