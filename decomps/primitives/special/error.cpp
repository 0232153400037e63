// The error function's kin: its inverse, its scaled complement and the normal distribution's.
#include <array>
#include <numbers>

#include "decomps/primitives/special/approximation.h"
#include "decomps/primitives/special/coefficients.h"

namespace primset::decomps::math {

namespace {

// Wichura's percentage points of the normal distribution, at (x + 1) / 2 and over the root of 2: by
// the square of x, and towards the ends by the logarithm of the distance to the nearer one.
Val erf_inverse_of_f64(const Val& x) {
  const Val a = abs(x), half = x * Scalar(0.5), r = Scalar(0.180625) - half * half;
  const Val root = sqrt(-log((Scalar(1.0) - a) * Scalar(0.5))), t = root - Scalar(1.6);
  const Val far = gt(root, Scalar(5.0)), s = root - Scalar(5.0);
  Val p = where(far, polynomial(s, tables::kErfinvFarP), polynomial(t, tables::kErfinvTailP));
  Val q = where(far, polynomial(s, tables::kErfinvFarQ), polynomial(t, tables::kErfinvTailQ));
  const Val central = le(a, Scalar(0.85));
  p = where(central, half * polynomial(r, tables::kErfinvCentralP), copysign(p, x));
  q = where(central, polynomial(r, tables::kErfinvCentralQ), q);
  const Val y = p / q * Scalar(std::numbers::sqrt2 / 2);
  const Val end = where(eq(a, Scalar(1.0)), copysign(number(x, kInfinity), x), y);
  return where(gt(a, Scalar(1.0)), number(x, kNan), end);
}

// erfinv(x) / x of an f32 x, from log(1 - x^2), of which it is a function without a kink or a pole
// (Giles, Approximating the erfinv function, 2012). -inf, at the ends, gives +inf.
Val erf_inverse_ratio(const Val& logarithm) {
  return polynomial(logarithm + Scalar(4.0), tables::kErfinvRatio);
}

}  // namespace

Val erf_inverse(const Val& x) {
  if (x.dtype() == DType::f64) return erf_inverse_of_f64(x);
  return x * erf_inverse_ratio(log(fma(-x, x, number(x, 1.0))));
}

Val erfc_scaled(const Val& x) {
  const Val a = abs(x);
  // Chebyshev's argument is twice the ratio; infinity is its end.
  const Val ratio = where(is_infinite(a), number(x, 1.0), (a - Scalar(3.75)) / (a + Scalar(3.75)));
  const Val y = chebyshev(ratio * Scalar(2.0), tables::kErfcx) * Scalar(0.5) / (a + Scalar(0.5));
  return where(lt(x, Scalar(0.0)), exp(x * x) * Scalar(2.0) - y, y);
}

namespace {

// Cephes' ndtri: by the distance from one half, or from the nearer end.
Val normal_quantile_of_f64(const Val& p) {
  constexpr double kTail = 0.13533528323661269189;  // e^-2
  constexpr double kRootTwoPi = 2.50662827463100050242;
  const Val upper = gt(p, Scalar(1 - kTail)), y = where(upper, Scalar(1.0) - p, p);
  const Val d = y - Scalar(0.5), dd = d * d, is_central = gt(y, Scalar(kTail));
  const Val x = sqrt(log(y) * Scalar(-2.0)), z = number(p, 1.0) / x, is_near = lt(x, Scalar(8.0));
  // One division for all three approximations.
  const Val above =
      where(is_near, polynomial(z, tables::kNdtriP1), polynomial(z, tables::kNdtriP2)) * z;
  const Val below =
      where(is_near, polynomial(z, tables::kNdtriQ1), polynomial(z, tables::kNdtriQ2));
  const Val ratio = where(is_central, dd * polynomial(dd, tables::kNdtriP0), above) /
                    where(is_central, polynomial(dd, tables::kNdtriQ0), below);
  const Val central = (d + d * ratio) * Scalar(kRootTwoPi);
  const Val tail = x - log(x) * z - ratio;
  const Val q = where(is_central, where(upper, -central, central), where(upper, tail, -tail));
  const Val outside = lt(p, Scalar(0.0)) | gt(p, Scalar(1.0));
  const Val ends = where(eq(p, Scalar(0.0)), number(p, -kInfinity),
                         where(eq(p, Scalar(1.0)), number(p, kInfinity), q));
  return where(outside, number(p, kNan), ends);
}

// As the inverse of erf at 2 p - 1, of which 4 p (1 - p) is the distance of the square from 1. So
// near to 0 that the ratio's approximation ends, by the root of the logarithm.
Val normal_quantile_of_f32(const Val& p) {
  const Val logarithm = log(p * Scalar(4.0) * (Scalar(1.0) - p));
  const Val near =
      (p + p - Scalar(1.0)) * Scalar(std::numbers::sqrt2) * erf_inverse_ratio(logarithm);
  const Val at = lt(p, Scalar(1e-7));
  const auto tail = [](const Val& l, const Numbers&) {
    return -polynomial(sqrt(-l) - Scalar(7.0), tables::kNdtriTail);
  };
  return where(at, seldom(at, logarithm, {}, tail), near);
}

}  // namespace

Val normal_quantile(const Val& p) {
  return p.dtype() == DType::f64 ? normal_quantile_of_f64(p) : normal_quantile_of_f32(p);
}

}  // namespace primset::decomps::math
