// Derivatives of the logarithm of the gamma function, and Hurwitz' zeta function, by the
// Euler-Maclaurin sum (DLMF 5.11.2, 25.11.28), far enough out for long double.
#include <cmath>
#include <numbers>

#include "prims/reference/special/functions.h"

namespace primset::prims::reference::special {
namespace {

// B_2k of Bernoulli.
constexpr long double kBernoulli[] = {1 / 6.0L,         -1 / 30.0L,      1 / 42.0L,
                                      -1 / 30.0L,       5 / 66.0L,       -691 / 2730.0L,
                                      7 / 6.0L,         -3617 / 510.0L,  43867 / 798.0L,
                                      -174611 / 330.0L, 854513 / 138.0L, -236364091 / 2730.0L};
constexpr long double kAsymptoticGamma = 40;

bool is_whole(long double x) {
  return x == std::floor(x);
}

long double digamma_of_positive(long double x) {
  long double sum = 0;
  for (; x < kAsymptoticGamma; x += 1) sum -= 1 / x;
  long double power = 1;
  sum += std::log(x) - 1 / (2 * x);
  for (int k = 1; k <= 12; ++k) {
    power /= x * x;
    sum -= kBernoulli[k - 1] / (2 * k) * power;
  }
  return sum;
}

// pi / tan(pi x), by the nearest whole number or half.
long double pi_cotangent(long double x) {
  constexpr long double kPi = std::numbers::pi_v<long double>;
  const long double left = x - std::nearbyint(x), size = std::fabs(left);
  const long double value = size > 0.25L ? std::tan(kPi * (0.5L - size)) : 1 / std::tan(kPi * size);
  return std::copysign(kPi * value, left);
}

// The sum from q on, which is far out, of the x-th powers.
long double zeta_tail(long double x, long double q) {
  const long double power = std::pow(q, -x);
  long double sum = power * q / (x - 1) + power / 2;
  long double factor = x / 2 * power / q;  // x (x + 1) ... q^(-x - 2 k + 1) / (2 k)!
  for (int k = 1; k <= 12; ++k) {
    const long double next = 2 * k;
    sum += kBernoulli[k - 1] * factor;
    factor *= (x + next - 1) / (next + 1) * (x + next) / (next + 2) / (q * q);
  }
  return sum;
}

}  // namespace

long double lgamma(long double x) {
  return std::isinf(x) ? HUGE_VALL : std::lgamma(x);
}

long double digamma(long double x) {
  if (x == 0) return std::copysign(HUGE_VALL, -x);
  if (x > 0 || std::isnan(x)) return std::isinf(x) ? x : digamma_of_positive(x);
  if (is_whole(x)) return std::nanl("");
  return digamma_of_positive(1 - x) - pi_cotangent(x);
}

long double zeta(long double x, long double q) {
  if (x == 1) return HUGE_VALL;
  if (x < 1) return std::nanl("");
  if (q <= 0 && is_whole(q)) return HUGE_VALL;
  if (std::isinf(x) && q <= 1) return q < 1 ? HUGE_VALL : 1;
  if ((q <= 0 && !is_whole(x)) || !std::isfinite(x) || !std::isfinite(q)) return std::nanl("");
  long double sum = 0;
  for (; q < kAsymptoticGamma; q += 1) sum += std::pow(q, -x);
  return sum + zeta_tail(x, q);
}

// At a negative infinity the zeta function has one pole more.
long double polygamma(long double n, long double x) {
  if (n == 0) return digamma(x);
  if (n == 1 && std::isinf(x)) return x > 0 ? 0 : std::nanl("");
  const bool odd = std::fmod(n, 2.0L) == 1;
  return (odd ? 1 : -1) * std::tgamma(n + 1) * zeta(n + 1, x);
}

}  // namespace primset::prims::reference::special
