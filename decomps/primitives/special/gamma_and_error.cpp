// The error function's kin, logarithms of gamma and their derivatives, as primitives over the
// functions of approximation.h.
#include "decomps/primitives/special.h"

#include <cmath>
#include <numbers>

#include "decomps/primitives/special/approximation.h"

namespace primset::decomps::prim {
namespace {

using math::number;

// Six steps up, then the asymptotic series; reflected below one half.
Val trigamma(const Val& x) {
  const Val low = lt(x, Scalar(0.5)), sine = math::sin(x * Scalar(std::numbers::pi));
  const Val folded = number(x, std::numbers::pi * std::numbers::pi) / (sine * sine);
  Val at = where(low, Scalar(1.0) - x, x), sum = number(x, 0.0);
  for (int i = 0; i < 6; ++i) {
    sum = sum + number(x, 1.0) / (at * at);
    at = at + Scalar(1.0);
  }
  const Val z = number(x, 1.0) / (at * at);
  const Val series = Scalar(1.0 / 6) - z * (Scalar(1.0 / 30) - z * Scalar(1.0 / 42));
  const Val y = sum + (number(x, 0.5) / at + Scalar(1.0) + z * series) / at;
  return where(low, folded - y, y);
}

Val polygamma_of(int64_t n, const Val& x) {
  if (n == 0) return math::digamma(x);
  if (n == 1) return trigamma(x);
  const double order = static_cast<double>(n) + 1;
  const double factor = (n % 2 == 1 ? 1.0 : -1.0) * std::exp(std::lgamma(order));
  return math::zeta(number(x, order), x) * Scalar(factor);
}

// Of a negative number through erfcx, which does not vanish.
Val log_normal_cdf(const Val& x) {
  constexpr double kRootHalf = std::numbers::sqrt2 / 2;
  const Val t = x * Scalar(kRootHalf);
  const Val tail = math::log(math::erfc_scaled(-t) * Scalar(0.5)) - t * t;
  const Val body = math::log1p(unary(Prim::erfc, t) * Scalar(-0.5));
  return where(lt(x, Scalar(-1.0)), tail, body);
}

}  // namespace

Val digamma::decompose(Tracer&, const Val& x) {
  return math::rounded(math::digamma(opmath(x)), x);
}
Val lgamma::decompose(Tracer&, const Val& x) {
  return math::rounded(math::log_gamma(opmath(x)), x);
}
Val erfinv::decompose(Tracer&, const Val& x) {
  return math::rounded(math::erf_inverse(opmath(x)), x);
}
Val erfcx::decompose(Tracer&, const Val& x) {
  return math::rounded(math::erfc_scaled(opmath(x)), x);
}
Val ndtri::decompose(Tracer&, const Val& x) {
  return math::rounded(math::normal_quantile(opmath(x)), x);
}
Val log_ndtr::decompose(Tracer&, const Val& x) {
  return math::rounded(log_normal_cdf(opmath(x)), x);
}
Val polygamma::decompose(Tracer&, const Val& x, int64_t n) {
  return math::rounded(polygamma_of(n, opmath(x)), x);
}
Val zeta::decompose(Tracer&, const Val& x, const Val& q) {
  return math::rounded(math::zeta(opmath(x), opmath(q)), x);
}

}  // namespace primset::decomps::prim
