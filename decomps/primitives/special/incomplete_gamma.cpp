// The regularized incomplete gamma functions. Below x = a the power series of P converges, above it
// Legendre's continued fraction of Q, both slowly next to a large a, where Temme's uniform
// expansion takes their place (DLMF 8.7, 8.9, 8.12; where Q is small for a small a, its series as
// in Cephes' igamc). In f64 where the device has it: the exponents of x^a e^-x multiply the error.
#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

#include "decomps/primitives/special.h"
#include "decomps/primitives/special/approximation.h"

namespace primset::decomps::prim {
namespace {

using math::number;

// How far series go for a result of a type, computed in another.
struct Accuracy {
  double precision;  // the last term of a series, relative to its sum
  int terms;         // of a series for an x up to 1.1
  size_t powers_of_a, powers_of_eta;
};

Accuracy accuracy_of(DType result, DType computed) {
  if (result == DType::f64) return {std::numeric_limits<double>::epsilon(), 20, 7, 18};
  const double rounding = result == DType::f16 ? 0x1p-10 : result == DType::bf16 ? 0x1p-7 : 0x1p-23;
  const double least = computed == DType::f64 ? 0x1p-52 : 0x1p-23;
  return {std::max(rounding / 128, least), 13, 4, 10};
}

// --- Temme's expansion: Q = erfc(eta sqrt(a / 2)) / 2 + R, with R the sum over k and n of
// d(k, n) eta^n a^-k, times e^(-a eta^2 / 2) / sqrt(2 pi a), and eta^2 / 2 = mu - log(1 + mu).

constexpr double kLeastLarge = 200, kFar = 0.3;  // a and |mu| = |x - a| / a, up to where it is used
constexpr size_t kPowersOfA = 7, kPowersOfEta = 18;

using Coefficients = std::array<std::array<double, kPowersOfEta>, kPowersOfA>;

// DLMF 8.12.12: d(k, n) = (-1)^k g_k d(0, n) + (n + 2) d(k - 1, n + 2), where g_k are the
// coefficients of Stirling's series and d(0, n) = (n + 2) alpha_(n + 2) follow from 8.12.10, the
// expansion of mu in powers of eta.
Coefficients coefficients() {
  constexpr size_t kMost = kPowersOfEta + 2 * kPowersOfA;
  constexpr std::array<long double, kPowersOfA> kStirling = {1.0L,
                                                             1 / 12.0L,
                                                             1 / 288.0L,
                                                             -139 / 51840.0L,
                                                             -571 / 2488320.0L,
                                                             163879 / 209018880.0L,
                                                             5246819 / 75246796800.0L};
  std::array<long double, kMost + 2> alpha{};
  alpha[1] = 1;
  for (size_t k = 2; k < alpha.size(); ++k) {
    long double sum = alpha[k - 1];
    for (size_t j = 2; j < k; ++j) sum -= static_cast<long double>(j) * alpha[j] * alpha[k + 1 - j];
    alpha[k] = sum / static_cast<long double>(k + 1);
  }
  std::array<long double, kMost> first{}, row{};
  for (size_t n = 0; n < kMost; ++n) first[n] = static_cast<long double>(n + 2) * alpha[n + 2];
  first[0] -= 1;
  row = first;
  Coefficients out{};
  for (size_t k = 0; k < kPowersOfA; ++k) {
    for (size_t n = 0; n < kPowersOfEta; ++n) out[k][n] = static_cast<double>(row[n]);
    const long double g = k % 2 == 0 ? -kStirling[std::min(k + 1, kPowersOfA - 1)]
                                     : kStirling[std::min(k + 1, kPowersOfA - 1)];
    for (size_t n = 0; n + 2 < kMost; ++n)
      row[n] = g * first[n] + static_cast<long double>(n + 2) * row[n + 2];
  }
  return out;
}

// The lowest coefficient first.
Val ascending(const Val& x, std::span<const double> c) {
  Val sum = number(x, c.back());
  for (size_t i = c.size() - 1; i-- > 0;) sum = sum * x + Scalar(c[i]);
  return sum;
}

// log(1 + mu) - mu. Near 0 by the series of atanh(s), s = mu / (2 + mu): the linear terms, which
// cancel, are left out.
Val log_excess(const Val& mu) {
  static constexpr double kAtanh[] = {1 / 3.0,  1 / 5.0,  1 / 7.0,  1 / 9.0,  1 / 11.0, 1 / 13.0,
                                      1 / 15.0, 1 / 17.0, 1 / 19.0, 1 / 21.0, 1 / 23.0, 1 / 25.0};
  const Val s = mu / (mu + Scalar(2.0)), square = s * s;
  const Val near = s * (square * ascending(square, kAtanh) * Scalar(2.0) - mu);
  return where(lt(math::abs(mu), Scalar(0.4)), near, math::log1p(mu) - mu);
}

struct Tails {
  Val lower, upper;
};

// Of an a of which `excess` is log(1 + mu) - mu.
Tails temme(const Val& a, const Val& mu, const Val& excess, const Accuracy& accuracy) {
  static const Coefficients kD = coefficients();
  const Val zero = number(a, 0.0);
  const Val size = math::sqrt(math::max(-(excess + excess), zero));
  const Val eta = where(lt(mu, Scalar(0.0)), -size, size);
  Val sum = zero;
  for (size_t k = accuracy.powers_of_a; k-- > 0;)
    sum = sum / a + ascending(eta, std::span(kD[k]).first(accuracy.powers_of_eta));
  const Val z = eta * math::sqrt(a * Scalar(0.5));
  const Val rest = math::exp(a * excess) / math::sqrt(a * Scalar(2 * std::numbers::pi)) * sum;
  const auto half_erfc = [](const Val& v) { return unary(Prim::erfc, v) * Scalar(0.5); };
  return {half_erfc(-z) - rest, half_erfc(z) + rest};
}

// --- x^a e^-x / Gamma(1 + a) ---

constexpr double kLeastOfStirling = 10;

// log(Gamma(1 + a) / (sqrt(2 pi a) (a / e)^a)) of an a from kLeastOfStirling on.
Val stirling_rest(const Val& a) {
  static constexpr double kSeries[] = {1 / 12.0,   -1 / 360.0,      1 / 1260.0, -1 / 1680.0,
                                       1 / 1188.0, -691 / 360360.0, 1 / 156.0};
  const Val r = number(a, 1.0) / a;
  return r * ascending(r * r, kSeries);
}

// `log_power` is log(x^a / Gamma(1 + a)), which cancels for a large a.
Val power_of_tail(const Val& a, const Val& x, const Val& log_power, const Val& excess) {
  const Val large = ge(a, Scalar(kLeastOfStirling));
  const Val safe = where(large, a, number(a, kLeastOfStirling));
  const Val exponent = where(large, safe * excess - stirling_rest(safe), log_power - x);
  const Val scale = math::sqrt(safe * Scalar(2 * std::numbers::pi));
  return math::exp(exponent) / where(large, scale, number(a, 1.0));
}

// --- loops over one element ---

using LoopStep = std::function<std::vector<Val>(const std::vector<Val>&)>;

// The last of the carried values when the first one, a bool, no longer holds.
Val repeated(const Val& a, const Val& x, const LoopStep& start, const LoopStep& step) {
  Tracer& t = a.tracer();
  const auto body = [&](const std::vector<Val>& v) -> std::vector<Val> {
    const std::vector<Val> first = start(v);
    std::vector<DType> types;
    for (const Val& c : first) types.push_back(c.dtype());
    const auto more = [](const std::vector<Val>& c) { return std::vector<Val>{c[0]}; };
    return {t.prim(Prim::while_loop, first, {},
                   {t.scalar_region(types, more), t.scalar_region(types, step)})
                .back()};
  };
  return t.prim(Prim::map, {a, x}, {}, {t.scalar_region({a.dtype(), x.dtype()}, body)})[0];
}

// The sum over n of x^n / ((a + 1) ... (a + n)). Carried: open, x, a + n, term, sum.
Val lower_series(const Val& a, const Val& x, double precision) {
  return repeated(
      a, x,
      [](const std::vector<Val>& v) -> std::vector<Val> {
        const Val one = number(v[0], 1.0);
        return {lt(number(v[0], 0.0), v[1]), v[1], v[0], one, one};
      },
      [&](const std::vector<Val>& v) -> std::vector<Val> {
        const Val place = v[2] + Scalar(1.0), term = v[3] * v[1] / place, sum = v[4] + term;
        return {gt(term, sum * Scalar(precision)), v[1], place, term, sum};
      });
}

// Legendre's fraction 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)) by Lentz's method. Carried:
// open, a, count, denominator's part b, the ratios c and d, the fraction.
Val upper_fraction(const Val& a, const Val& x, double precision) {
  constexpr double kMostSteps = 1000;
  const double great = a.dtype() == DType::f64 ? 1e300 : 1e30;
  return repeated(
      a, x,
      [&](const std::vector<Val>& v) -> std::vector<Val> {
        const Val b = v[1] + Scalar(1.0) - v[0], d = number(b, 1.0) / b;
        return {eq(v[0], v[0]), v[0], number(b, 0.0), b, number(b, great), d, d};
      },
      [&](const std::vector<Val>& v) -> std::vector<Val> {
        const Val count = v[2] + Scalar(1.0), factor = count * (v[1] - count);
        const Val b = v[3] + Scalar(2.0), c = b + factor / v[4];
        const Val d = number(b, 1.0) / (factor * v[5] + b), change = c * d;
        const Val open =
            gt(math::abs(change - Scalar(1.0)), Scalar(precision)) & lt(count, Scalar(kMostSteps));
        return {open, v[1], count, b, c, d, v[6] * change};
      });
}

// Q for an x up to 1.1 and a small a, where P is next to 1: x^a / Gamma(1 + a) is, and what is left
// is an alternating series.
Val upper_series(const Val& a, const Val& x, const Val& log_power, int terms) {
  Val factor = number(a, 1.0), sum = number(a, 0.0);
  for (int n = 1; n <= terms; ++n) {
    factor = factor * (x * Scalar(-1.0 / n));
    sum = sum + factor / (a + Scalar(static_cast<double>(n)));
  }
  const Val less = math::expm1(log_power);
  return -less - (less + Scalar(1.0)) * a * sum;
}

// log(x^a / Gamma(1 + a)).
Val log_power_of(const Val& a, const Val& x) {
  const Val small = lt(a, Scalar(0.2));
  const Val log_gamma = where(small, math::log_gamma_near_one(where(small, a, number(a, 0.0))),
                              math::log_gamma_positive(a + Scalar(1.0)));
  return a * math::log(x) - log_gamma;
}

// Of positive, finite numbers.
Tails tails(const Val& a, const Val& x, const Accuracy& accuracy) {
  const Val one = number(a, 1.0), zero = number(a, 0.0), mu = (x - a) / a;
  const Val uniform = gt(a, Scalar(kLeastLarge)) & lt(math::abs(mu), Scalar(kFar));
  const Val little = le(x, Scalar(1.1));
  const Val above = gt(x, a) & ~little & ~uniform, below = ~above & ~uniform;
  const Val log_power = log_power_of(a, x);
  const Val excess = log_excess(where(ge(a, Scalar(kLeastOfStirling)), mu, zero));
  const Val power = power_of_tail(a, x, log_power, excess);
  const Val lower =
      power * lower_series(where(below, a, one), where(below, x, zero), accuracy.precision);
  const Val upper =
      power * a *
      upper_fraction(where(above, a, one), where(above, x, one + one), accuracy.precision);
  const Tails large = temme(where(uniform, a, number(a, kLeastLarge)), where(uniform, mu, zero),
                            where(uniform, excess, zero), accuracy);
  // Where P is far enough from 1 for the difference.
  const Val far =
      where(le(x, Scalar(0.5)), lt(a * math::log(x), number(x, -0.4)), lt(x * Scalar(1.1), a));
  const Val series = upper_series(a, where(little, x, one), log_power, accuracy.terms);
  const Val small_upper = where(little & ~far, series, one - lower);
  return {where(uniform, large.lower, where(above, one - upper, lower)),
          where(uniform, large.upper, where(above, upper, small_upper))};
}

Val tail(const Val& a, const Val& x, bool is_lower) {
  const Val wide_a = wide_opmath(a), wide_x = wide_opmath(x);
  const auto inside = [](const Val& v) { return lt(full_like(v, 0.0), v) & math::is_finite(v); };
  const Val usual = inside(wide_a) & inside(wide_x), one = number(wide_a, 1.0);
  const Tails both = tails(where(usual, wide_a, one), where(usual, wide_x, one),
                           accuracy_of(a.dtype(), one.dtype()));
  // Nothing is below x = 0, or all of it above x where a is infinite; what is NaN besides does not
  // matter then, as ATen has it. Where both edges meet there is no value.
  const auto is = [](const Val& v, double number) { return eq(v, Scalar(number)); };
  const Val zero_a = is(wide_a, 0.0), infinite_a = is(wide_a, math::kInfinity);
  const Val none = is(wide_x, 0.0) | infinite_a, all = is(wide_x, math::kInfinity) | zero_a;
  const Val outside = lt(wide_a, Scalar(0.0)) | lt(wide_x, Scalar(0.0)) |
                      (zero_a & ~gt(wide_x, Scalar(0.0))) |
                      (infinite_a & is(wide_x, math::kInfinity));
  const Val valid = ~outside & (usual | none | all);
  const Val zero = number(one, 0.0);
  const Val edge = is_lower ? where(none, zero, one) : where(none, one, zero);
  const Val y = where(usual, math::min(is_lower ? both.lower : both.upper, one), edge);
  return convert(where(valid, y, number(one, math::kNan)), a.dtype());
}

}  // namespace

Val igamma::decompose(Tracer&, const Val& a, const Val& x) {
  return tail(a, x, true);
}

Val igammac::decompose(Tracer&, const Val& a, const Val& x) {
  return tail(a, x, false);
}

}  // namespace primset::decomps::prim
