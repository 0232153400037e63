// The logarithm of gamma's magnitude for f32, with one logarithm in all but one range.
#include "decomps/primitives/special/approximation.h"
#include "decomps/primitives/special/coefficients.h"

namespace primset::decomps::math {
namespace {

// The ranges of |x|, and where in them it is.
struct Place {
  Val size, is_negative;
  Val below_one, from_two, from_three;
  Val past;  // the last whole number, below 3
};

Place place_of(const Val& x) {
  const Val a = abs(x), below_one = lt(a, Scalar(1.0)), from_two = ge(a, Scalar(2.0));
  const Val start =
      where(below_one, number(x, 0.0), where(from_two, number(x, 2.0), number(x, 1.0)));
  return {a, lt(x, Scalar(0.0)), below_one, from_two, ge(a, Scalar(3.0)), a - start};
}

// sin(pi a) / pi up to its sign: what is left to the nearest whole number is exact.
Val sine_over_pi(const Val& a) {
  const Val fraction = a - floor(a), rest = Scalar(1.0) - fraction;
  const Val folded = where(lt(rest, fraction), rest, fraction);
  return folded * polynomial(folded * folded, tables::kSineOverPi);
}

// Stirling's series, from 3 on.
Val stirling(const Val& a, const Val& log_a) {
  const Val r = number(a, 1.0) / a;
  const Val rest =
      fma(r, polynomial(r * r, tables::kGammaFarOfF32), number(a, 4.18938533204672725052e-01));
  return fma(a - Scalar(0.5), log_a - Scalar(1.0), rest);
}

// At -a for an a from 3 on, by Euler's reflection.
Val reflected(const Val& a, const Numbers& at_size) {
  const Val y = -(at_size[0] + log(sine_over_pi(a) * a));
  return where(is_infinite(at_size[0]), number(y, kInfinity), y);
}

// Up to 3 gamma(x) is gamma(1 + z) for a z from 0 to 1, times or over the numbers between: for
// |x| = n + y it is z = y where x is positive, else 1 - y. What they are, or their product.
Val between(const Place& p, const Val& y_times_rest) {
  const Val one = number(p.size, 1.0), step = p.size - Scalar(1.0);
  const Val positive = where(p.below_one, p.size, where(p.from_two, step, one));
  const Val factor = where(p.from_two, p.size * step, where(p.below_one, one, p.size));
  return where(p.is_negative, y_times_rest * factor, positive);
}

}  // namespace

// The zeros of log gamma(1 + z) at both ends are taken out. The logarithms of 0 make the poles.
Val log_gamma_of_f32(const Val& x) {
  const Place p = place_of(x);
  const Val rest = Scalar(1.0) - p.past, y_times_rest = p.past * rest;
  const Val log = math::log(where(p.from_three, p.size, between(p, y_times_rest)));
  const Val unit =
      y_times_rest * polynomial(where(p.is_negative, rest, p.past), tables::kGammaUnit);
  const Val near = where(p.below_one | p.is_negative, -log, log) - unit;
  const Val far = stirling(p.size, log), at = p.is_negative & p.from_three;
  return where(p.from_three, where(at, seldom(at, p.size, {far}, reflected), far), near);
}

}  // namespace primset::decomps::math
