// Bessel functions by libm, by integrals and by asymptotic series; Airy's by its integral along a
// line where it does not oscillate much, and by asymptotic series (DLMF 10.9, 10.17, 10.32, 10.40,
// 9.5, 9.7). The trapezoidal rule converges exponentially on all of these integrals.
#include <cmath>
#include <complex>
#include <numbers>

#include "prims/reference/special/functions.h"

namespace primset::prims::reference::special {
namespace {

constexpr long double kPi = std::numbers::pi_v<long double>;
constexpr long double kAsymptoticBessel =
    50;  // from here on asymptotic series have more than 64 bits

// The sum over k of a_k(order) (sign / x)^k, DLMF 10.17.1.
long double hankel_sum(int order, long double x, int sign) {
  const auto mu = static_cast<long double>(4 * order * order);
  long double term = 1, sum = 1;
  for (int k = 1; k < 80 && std::fabs(term) > 1e-22L; ++k) {
    const auto odd = static_cast<long double>(2 * k - 1);
    term *= sign * (mu - odd * odd) / (8 * k * x);
    sum += term;
  }
  return sum;
}

// Of x >= 0: 1 / pi times the integral over half a turn of e^(x (cos t - 1)), and for order 1 of
// x sin^2 t besides.
long double scaled_i(int order, long double x) {
  if (x > kAsymptoticBessel) return hankel_sum(order, x, -1) / std::sqrt(2 * kPi * x);
  constexpr int kNodes = 256;
  long double sum = 0;
  for (int i = 0; i < kNodes; ++i) {
    const long double half = kPi * i / kNodes, s = std::sin(half), turn = std::sin(2 * half);
    sum += std::exp(-2 * x * s * s) * (order == 0 ? 1 : x * turn * turn);
  }
  return sum / kNodes;
}

// The integral over t > 0 of e^(-x (cosh t - 1)) cosh(order t).
long double scaled_k(int order, long double x) {
  if (std::isnan(x) || x < 0) return std::nanl("");
  if (x == 0) return HUGE_VALL;
  if (x > kAsymptoticBessel) return hankel_sum(order, x, 1) * std::sqrt(kPi / (2 * x));
  constexpr long double kStep = 1 / 16.0L;
  long double sum = 0.5L;
  for (int i = 1;; ++i) {
    const long double t = kStep * i, s = std::sinh(t / 2);
    const long double term = std::exp(-2 * x * s * s) * (order == 0 ? 1 : std::cosh(t));
    sum += term;
    if (2 * x * s * s > 60) return sum * kStep;
  }
}

// --- Airy's ---

// DLMF 9.7.2, u_k / zeta^k.
long double airy_term(int k, long double last, long double zeta) {
  const auto six = static_cast<long double>(6 * k);
  return last * (six - 5) * (six - 3) * (six - 1) / (216 * k * (2 * six / 6 - 1)) / zeta;
}

long double far_airy(long double x) {
  const long double size = std::fabs(x), root = std::sqrt(size), zeta = 2 * size * root / 3;
  const long double scale = 1 / std::sqrt(kPi * root), angle = zeta - kPi / 4;
  long double term = 1, sums[4] = {};
  for (int k = 0; k < 60; ++k) {
    sums[k % 4] += term;
    term = airy_term(k + 1, term, zeta);
    if (std::fabs(term) < 1e-23L) break;
  }
  if (x > 0) return scale / 2 * std::exp(-zeta) * (sums[0] - sums[1] + sums[2] - sums[3]);
  return scale * (std::cos(angle) * (sums[0] - sums[2]) + std::sin(angle) * (sums[1] - sums[3]));
}

// 1 / 2 pi times the integral of e^(i (s^3 / 3 + x s)) along a line above the real one: through the
// saddle point, or where the wave has not grown yet.
long double near_airy(long double x) {
  using Complex = std::complex<long double>;
  constexpr long double kStep = 1 / 32.0L;
  const long double height = x > 1 ? std::sqrt(x) : 1 / (1 + std::fabs(x) / 4);
  long double sum = 0;
  for (int i = 0; height * kStep * i * kStep * i < 60; ++i) {
    const Complex s(kStep * i, height);
    const long double value = std::exp(Complex(0, 1) * (s * s * s / 3.0L + x * s)).real();
    sum += i == 0 ? value / 2 : value;
  }
  return sum * kStep / kPi;
}

}  // namespace

long double bessel_j0(long double x) {
  return std::isinf(x) ? std::nanl("") : j0l(x);
}
long double bessel_j1(long double x) {
  return std::isinf(x) ? std::nanl("") : j1l(x);
}
long double bessel_y0(long double x) {
  if (x == 0) return -HUGE_VALL;
  return std::isinf(x) || x < 0 ? std::nanl("") : y0l(x);
}
long double bessel_y1(long double x) {
  if (x == 0) return -HUGE_VALL;
  return std::isinf(x) || x < 0 ? std::nanl("") : y1l(x);
}
long double bessel_i0e(long double x) {
  return scaled_i(0, std::fabs(x));
}
long double bessel_i1e(long double x) {
  return std::copysign(scaled_i(1, std::fabs(x)), x);
}
long double bessel_k0e(long double x) {
  return scaled_k(0, x);
}
long double bessel_k1e(long double x) {
  return scaled_k(1, x);
}

long double spherical_bessel_j0(long double x) {
  if (x == 0) return 1;
  return std::isinf(x) ? 0 : std::sin(x) / x;
}

long double airy_ai(long double x) {
  constexpr long double kVanishes = 103.892L;  // next to the least normal number of f64
  if (!std::isfinite(x)) return std::nanl("");
  if (x > kVanishes) return 0;
  return std::fabs(x) > 15 ? far_airy(x) : near_airy(x);
}

}  // namespace primset::prims::reference::special
