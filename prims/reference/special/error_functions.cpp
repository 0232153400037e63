// The error function's kin, by libm's erf and erfc.
#include <cmath>
#include <numbers>

#include "prims/reference/special/functions.h"

namespace primset::prims::reference::special {
namespace {

using std::numbers::inv_sqrtpi_v;
using std::numbers::sqrt2_v;

// The y >= 0 with erf(y) = a and erfc(y) = rest; the smaller of the two is the precise one.
long double inverse_erf(long double a, long double rest) {
  constexpr long double kSmall = 1e-6L;  // from here on two terms of the series are enough
  const long double first = a / (2 * inv_sqrtpi_v<long double>);
  if (a < kSmall) return first + first * first * first / 3;
  if (rest == 0) return HUGE_VALL;
  long double low = 0, high = 128;
  for (int i = 0; i < 128; ++i) {
    const long double middle = (low + high) / 2;
    const bool below = a < 0.5L ? std::erf(middle) < a : std::erfc(middle) > rest;
    (below ? low : high) = middle;
  }
  return high;
}

// Laplace's continued fraction, from the far end.
long double far_erfcx(long double x) {
  long double tail = x;
  for (int k = 120; k > 0; --k) tail = x + static_cast<long double>(k) / 2 / tail;
  return inv_sqrtpi_v<long double> / tail;
}

}  // namespace

long double erfinv(long double x) {
  const long double a = std::fabs(x);
  if (!(a <= 1)) return std::nanl("");
  return std::copysign(inverse_erf(a, 1 - a), x);
}

long double ndtri(long double p) {
  if (!(p >= 0 && p <= 1)) return std::nanl("");
  const long double rest = 2 * std::fmin(p, 1 - p);
  const long double x = sqrt2_v<long double> * inverse_erf(std::fabs(2 * p - 1), rest);
  return p < 0.5L ? -x : x;
}

// What rounding takes from x^2 is a factor of its own.
long double erfcx(long double x) {
  if (x > 8) return far_erfcx(x);
  const long double square = x * x, rest = x > -100 ? std::fma(x, x, -square) : 0;
  return std::exp(square) * (1 + rest) * std::erfc(x);
}

long double log_ndtr(long double x) {
  const long double t = x / sqrt2_v<long double>;
  if (x > -1) return std::log1p(-std::erfc(t) / 2);
  if (std::isinf(x)) return x;
  return std::log(erfcx(-t) / 2) - x * x / 2;
}

}  // namespace primset::prims::reference::special
