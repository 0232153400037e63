// The error function's kin: its inverse, its scaled complement and the normal distribution's.
#include <array>
#include <numbers>

#include "decomps/operators/special/approximation.h"
#include "decomps/operators/special/coefficients.h"

namespace primset::decomps::math {

// The rational start of ATen's calc_erfinv and two steps of Halley's method (erf'' is -2 y erf');
// towards the ends by erfc, since the difference of erf from a number next to 1 is all rounding.
Val erf_inverse(const Val& x) {
  constexpr std::array<double, 4> kA = {-0.140543331, 0.914624893, -1.645349621, 0.886226899};
  constexpr std::array<double, 5> kB = {0.012229801, -0.329097515, 1.442710462, -2.118377725, 1.0};
  constexpr std::array<double, 4> kC = {1.641345311, 3.429567803, -1.624906493, -1.970840454};
  constexpr std::array<double, 3> kD = {1.637067800, 3.543889200, 1.0};
  constexpr double kSlope = 2 * std::numbers::inv_sqrtpi;
  const Val a = abs(x), z = x * x;
  const Val central = x * polynomial(z, kA) / polynomial(z, kB);
  const Val w = sqrt(-log((Scalar(1.0) - a) * Scalar(0.5)));
  const Val outer = copysign(polynomial(w, kC), x) / polynomial(w, kD);
  Val y = where(le(a, Scalar(0.7)), central, outer);
  for (int i = 0; i < 2; ++i) {
    const Val left = (Scalar(1.0) - a) - unary(Prim::erfc, abs(y));
    const Val miss = where(le(a, Scalar(0.9)), unary(Prim::erf, y) - x, copysign(left, x));
    const Val newton = miss / (exp(-(y * y)) * Scalar(kSlope));
    y = y - newton / (y * newton + Scalar(1.0));
  }
  const Val end = where(eq(a, Scalar(1.0)), copysign(number(x, kInfinity), x), y);
  return where(gt(a, Scalar(1.0)), number(x, kNan), end);
}

Val erfc_scaled(const Val& x) {
  const Val a = abs(x);
  // Chebyshev's argument is twice the ratio; infinity is its end.
  const Val ratio = where(is_infinite(a), number(x, 1.0), (a - Scalar(3.75)) / (a + Scalar(3.75)));
  const Val y = chebyshev(ratio * Scalar(2.0), tables::kErfcx) / (a * Scalar(2.0) + Scalar(1.0));
  return where(lt(x, Scalar(0.0)), exp(x * x) * Scalar(2.0) - y, y);
}

// Cephes' ndtri: by the distance from one half, or from the nearer end.
Val normal_quantile(const Val& p) {
  constexpr double kTail = 0.13533528323661269189;  // e^-2
  constexpr double kRootTwoPi = 2.50662827463100050242;
  const Val upper = gt(p, Scalar(1 - kTail)), y = where(upper, Scalar(1.0) - p, p);
  const Val d = y - Scalar(0.5), dd = d * d;
  const Val ratio = dd * polynomial(dd, tables::kNdtriP0) / polynomial(dd, tables::kNdtriQ0);
  const Val central = (d + d * ratio) * Scalar(kRootTwoPi);
  const Val x = sqrt(log(y) * Scalar(-2.0)), z = number(p, 1.0) / x;
  const Val near = z * polynomial(z, tables::kNdtriP1) / polynomial(z, tables::kNdtriQ1);
  const Val far = z * polynomial(z, tables::kNdtriP2) / polynomial(z, tables::kNdtriQ2);
  const Val tail = x - log(x) / x - where(lt(x, Scalar(8.0)), near, far);
  const Val q =
      where(gt(y, Scalar(kTail)), where(upper, -central, central), where(upper, tail, -tail));
  const Val outside = lt(p, Scalar(0.0)) | gt(p, Scalar(1.0));
  const Val ends = where(eq(p, Scalar(0.0)), number(p, -kInfinity),
                         where(eq(p, Scalar(1.0)), number(p, kInfinity), q));
  return where(outside, number(p, kNan), ends);
}

}  // namespace primset::decomps::math
