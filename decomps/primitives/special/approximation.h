// What the approximations of special functions are written with. Values are in opmath.
#ifndef PRIMSET_DECOMPS_PRIMITIVES_SPECIAL_APPROXIMATION_H_
#define PRIMSET_DECOMPS_PRIMITIVES_SPECIAL_APPROXIMATION_H_

#include <functional>
#include <span>
#include <vector>

#include "decomps/engine/tracer.h"
#include "decomps/primitives/math.h"

namespace primset::decomps::math {

inline Val rounded(const Val& y, const Val& self) {
  return convert(y, self.dtype());
}
// The highest coefficient first.
Val polynomial(const Val& x, std::span<const double> coefficients);
// The same behind a leading 1.
Val monic_polynomial(const Val& x, std::span<const double> coefficients);
// A Chebyshev series by Clenshaw's recurrence, as Cephes' chbevl; the highest degree first.
Val chebyshev(const Val& x, std::span<const double> series);

// f(x, rest) where `at` holds: a loop of one round, which is left out where `at` holds of no
// element nearby. Elsewhere it is x: the value takes its place, lest a compiler computes it before
// the loop.
using Numbers = std::vector<Val>;
Val seldom(const Val& at, const Val& x, const Numbers& rest,
           const std::function<Val(const Val& x, const Numbers& rest)>& f);

// At |x|; of negative x +inf at 0 and the poles.
Val log_gamma(const Val& x);
Val log_gamma_of_f32(const Val& x);
Val log_gamma_positive(const Val& x);  // of an x > 0
Val log_gamma_near_one(const Val& y);  // at 1 + y for |y| < 0.23, precise next to 0
Val digamma(const Val& x);
// Hurwitz' zeta function: the sum over k of (q + k)^-x.
Val zeta(const Val& x, const Val& q);

Val erf_inverse(const Val& x);
Val erfc_scaled(const Val& x);  // e^(x^2) erfc(x)
Val normal_quantile(const Val& p);

inline Val floor(const Val& x) {
  return unary(Prim::floor, x);
}
inline Val tan(const Val& x) {
  return unary(Prim::tan, x);
}
// 1 where n is even, -1 where it is odd; n is an integer.
Val alternating(const Val& n, const Val& like);

}  // namespace primset::decomps::math

#endif  // PRIMSET_DECOMPS_PRIMITIVES_SPECIAL_APPROXIMATION_H_
