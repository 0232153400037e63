// The gamma function's kin.
#include <array>
#include <numbers>

#include "decomps/primitives/special/approximation.h"
#include "decomps/primitives/special/coefficients.h"

namespace primset::decomps::math {
namespace {

// --- log gamma, after msun's e_lgamma_r.c ---

// Around the minimum, whose place and value are kPlace and kValue + kRest.
constexpr double kPlace = 1.46163214496836224576e+00;
constexpr double kValue = -1.21486290535849611461e-01, kRest = -3.63867699703950536541e-18;

// At 2 - y, where log gamma has a zero.
Val near_two(const Val& y) {
  const Val z = y * y;
  const Val p = y * polynomial(z, tables::kGammaEven) + z * polynomial(z, tables::kGammaOdd);
  return p - y * Scalar(0.5);
}

Val near_minimum(const Val& y) {
  const Val z = y * y, w = z * y;
  const Val p1 = polynomial(w, tables::kGammaCubic0), p2 = polynomial(w, tables::kGammaCubic1),
            p3 = polynomial(w, tables::kGammaCubic2);
  return z * p1 - (Scalar(kRest) - w * (p2 + y * p3)) + Scalar(kValue);
}

// At 1 + y, its other zero: y times a ratio, less y / 2.
struct Ratio {
  Val above, below;
};
Ratio near_one(const Val& y) {
  return {y * polynomial(y, tables::kGammaNumerator), polynomial(y, tables::kGammaDenominator)};
}

// The ranges of x > 0. The logarithm that one adds and the quotient in it are of other numbers than
// the next one's: so that there is one logarithm and one division for all of them, each gives
//   value + factor * log(of) + above / below.
struct Range {
  Val value, factor, of;
  Ratio ratio;
};

Range where_range(const Val& at, const Range& x, const Range& y) {
  return {where(at, x.value, y.value),
          where(at, x.factor, y.factor),
          where(at, x.of, y.of),
          {where(at, x.ratio.above, y.ratio.above), where(at, x.ratio.below, y.ratio.below)}};
}

// Of 0 < x < 2. Below 0.9 it is the value at 1 + x less log x.
Range small(const Val& x) {
  const Val low = le(x, Scalar(0.9)), none = number(x, 0.0), one = number(x, 1.0);
  const Val above = where(low, x + Scalar(1.0), x);  // 0.9 < above < 2
  const Val upper = near_two(where(low, Scalar(1.0) - x, Scalar(2.0) - x));
  const Val middle = near_minimum(where(low, x - Scalar(kPlace - 1), x - Scalar(kPlace)));
  const Val y = where(low, x, x - Scalar(1.0));
  const Ratio ratio = near_one(y);
  const Val is_upper = ge(above, Scalar(1.7316)), is_lower = lt(above, Scalar(1.23164));
  return {where(is_upper, upper, where(is_lower, y * Scalar(-0.5), middle)),
          where(low, number(x, -1.0), none),
          where(low, x, one),
          {where(is_lower, ratio.above, none), where(is_lower, ratio.below, one)}};
}

// Of 2 <= x < 8, down to the interval behind 2 by the recurrence.
Range medium(const Val& x) {
  const Val n = floor(x), y = x - n, one = number(x, 1.0);
  Val product = one;
  for (int k = 2; k <= 6; ++k) {
    const Val factor =
        where(gt(n, Scalar(static_cast<double>(k))), y + Scalar(static_cast<double>(k)), one);
    product = product * factor;
  }
  return {y * Scalar(0.5),
          one,
          product,
          {y * polynomial(y, tables::kGammaMiddleNumerator),
           polynomial(y, tables::kGammaMiddleDenominator)}};
}

}  // namespace

Val log_gamma_positive(const Val& x) {
  const Val one = number(x, 1.0), is_large = ge(x, Scalar(8.0));
  const Range low = where_range(lt(x, Scalar(2.0)), small(x), medium(x));
  const Val log = math::log(where(is_large, x, low.of));
  const Val quotient = where(is_large, one, low.ratio.above) / where(is_large, x, low.ratio.below);
  const Val w = fma(quotient, polynomial(quotient * quotient, tables::kGammaFar),
                    number(x, 4.18938533204672725052e-01));
  const Val large = (x - Scalar(0.5)) * (log - Scalar(1.0)) + w;
  const Val y = where(is_large, large, low.value + quotient + low.factor * log);
  const Val zero = eq(x, Scalar(1.0)) | eq(x, Scalar(2.0));
  return where(is_infinite(x), number(x, kInfinity), where(zero, number(x, 0.0), y));
}

Val log_gamma_near_one(const Val& y) {
  const Ratio ratio = near_one(y);
  return ratio.above / ratio.below - y * Scalar(0.5);
}

// Euler's reflection below 0.
Val log_gamma(const Val& x) {
  if (x.dtype() == DType::f32) return log_gamma_of_f32(x);
  const Val a = abs(x), y = log_gamma_positive(a);
  const Val fraction = a - floor(a);  // sin(pi |x|) up to its sign
  const Val folded = min(fraction, Scalar(1.0) - fraction);
  // Of numbers so small that their product underflows it is minus their logarithm.
  const Val product = sin(folded * Scalar(std::numbers::pi)) * a;
  const Val reflected =
      where(lt(a, Scalar(1e-17)), y, log(number(x, std::numbers::pi) / product) - y);
  const Val pole = eq(fraction, Scalar(0.0));
  const Val below = where(pole | is_infinite(a), number(x, kInfinity), reflected);
  const Val whole = where(lt(x, Scalar(0.0)), below, y);
  return where(eq(a, Scalar(0.0)), number(x, kInfinity), whole);
}

namespace {

// pi cot(pi x) of a fraction x, by the tangent of what is left to the nearest half or whole number:
// both are exact, where pi x itself would lose what is next to a pole.
Val pi_cot_pi(const Val& x) {
  const Val size = abs(x), away = min(size, Scalar(1.0) - size);
  const Val near_half = gt(away, Scalar(0.25));
  const Val tangent = tan(where(near_half, Scalar(0.5) - away, away) * Scalar(std::numbers::pi));
  const Val value =
      where(near_half, tangent * Scalar(std::numbers::pi), number(x, std::numbers::pi) / tangent);
  return where(gt(size, Scalar(0.5)), -value, value) * copysign(number(x, 1.0), x);
}

}  // namespace

// Up to 10 by the recurrence, from there by the asymptotic series; reflected below 0.
Val digamma(const Val& x) {
  const Val negative = lt(x, Scalar(0.0));
  Val at = where(negative, Scalar(1.0) - x, x);
  // The sum of 1 / at, 1 / (at + 1), ... as one fraction.
  Val above = number(x, 0.0), below = number(x, 1.0);
  for (int i = 0; i < 10; ++i) {
    const Val low = lt(at, Scalar(10.0));
    above = where(low, fma(above, at, below), above);
    below = where(low, below * at, below);
    at = where(low, at + Scalar(1.0), at);
  }
  const Val sum = -(above / below);
  const Val z = number(x, 1.0) / (at * at);
  const Val series =
      where(lt(at, Scalar(1e17)), z * polynomial(z, tables::kDigamma), number(x, 0.0));
  const Val usual = sum + log(at) - number(x, 0.5) / at - series;
  const Val ten = sum + Scalar(2.25175258906672110764);
  const Val y = where(eq(at, Scalar(10.0)), ten, usual);
  const Val fraction = x - unary(Prim::trunc, x);
  const Val reflected = y - pi_cot_pi(fraction);
  const Val whole = where(negative, reflected, y);
  const Val pole = negative & eq(fraction, Scalar(0.0));
  const Val at_zero = copysign(number(x, kInfinity), -x);
  const Val near_zero = where(eq(x, Scalar(0.0)), at_zero, number(x, -1.0) / x);
  const Val is_near = lt(abs(x), Scalar(1e-30));
  return where(is_near, near_zero, where(pole, number(x, kNan), whole));
}

namespace {

// Cephes' zeta: terms until q + k is above 9, then the Euler-Maclaurin sum. Both stop where a term
// no longer counts.
constexpr double kPrecision = 1.11022302462515654042E-16;

std::vector<Val> zeta_of_numbers(Tracer& t, const Val& x, const Val& q) {
  const DType type = x.dtype();
  // The term is made greater, since the sum made smaller may underflow.
  const auto counts = [](const Val& term, const Val& sum) {
    return ne(term, Scalar(0.0)) & ~lt(abs(term * Scalar(1 / kPrecision)), abs(sum));
  };
  // carried: x, place, sum, last term, how many, open
  const auto more = [&](const std::vector<Val>& v) {
    return std::vector<Val>{v[5] & (lt(v[4], Scalar(9.0)) | le(v[1], Scalar(9.0)))};
  };
  const auto step = [&](const std::vector<Val>& v) {
    const Val place = v[1] + Scalar(1.0), term = pow(place, -v[0]), sum = v[2] + term;
    return std::vector<Val>{v[0], place, sum, term, v[4] + Scalar(1.0), counts(term, sum)};
  };
  const std::vector<DType> types = {type, type, type, type, type, DType::boolean};
  const Val none = number(x, 0.0);
  const auto out =
      t.prim(Prim::while_loop, {x, q, pow(q, -x), none, none, t.constant(true, DType::boolean)}, {},
             {t.scalar_region(types, more), t.scalar_region(types, step)});
  Val sum = out[2], b = out[3], open = out[5];
  const Val w = out[1], kept = sum;
  sum = sum + b * w / (x - Scalar(1.0)) - b * Scalar(0.5);
  Val a = number(x, 1.0);
  double k = 0;
  for (double divisor : tables::kZeta) {
    a = a * (x + Scalar(k));
    b = b / w;
    const Val term = a * b / Scalar(divisor), next = sum + term;
    sum = where(open, next, sum);
    open = open & counts(term, next);
    a = a * (x + Scalar(k + 1));
    b = b / w;
    k += 2;
  }
  return {where(out[5], sum, kept)};
}

}  // namespace

Val zeta(const Val& x, const Val& q) {
  Tracer& t = x.tracer();
  const DType type = x.dtype();
  const auto body = [&](const std::vector<Val>& v) { return zeta_of_numbers(t, v[0], v[1]); };
  const Val nan = number(x, kNan), inf = number(x, kInfinity);
  const Val pole = le(q, Scalar(0.0)) & eq(q, floor(q));
  const Val undefined = le(q, Scalar(0.0)) & ne(x, floor(x));
  const Val usual = gt(x, Scalar(1.0)) & ~pole & ~undefined & is_finite(q) & is_finite(x);
  const Val safe_x = where(usual, x, number(x, 2.0)), safe_q = where(usual, q, number(x, 1.0));
  const Val y = t.prim(Prim::map, {safe_x, safe_q}, {}, {t.scalar_region({type, type}, body)})[0];
  // To the power of -inf numbers below 1 are infinite, and there is one among q + k.
  const Val limit = where(lt(q, Scalar(1.0)), inf, where(eq(q, Scalar(1.0)), number(x, 1.0), nan));
  const Val beyond = where(eq(x, inf), limit, nan);
  const Val above = where(pole, inf, where(undefined, nan, where(usual, y, beyond)));
  return where(eq(x, Scalar(1.0)), inf, where(lt(x, Scalar(1.0)), nan, above));
}

}  // namespace primset::decomps::math
