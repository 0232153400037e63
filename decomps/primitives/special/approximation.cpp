#include "decomps/primitives/special/approximation.h"

namespace primset::decomps::math {
namespace {

Val extended(Val sum, const Val& x, std::span<const double> rest) {
  for (double c : rest) sum = sum * x + Scalar(c);
  return sum;
}

}  // namespace

Val polynomial(const Val& x, std::span<const double> coefficients) {
  return extended(number(x, coefficients[0]), x, coefficients.subspan(1));
}

Val monic_polynomial(const Val& x, std::span<const double> coefficients) {
  return extended(x + Scalar(coefficients[0]), x, coefficients.subspan(1));
}

Val chebyshev(const Val& x, std::span<const double> coefficients) {
  Val next = number(x, coefficients[0]), last = number(x, 0.0), before = last;
  for (double c : coefficients.subspan(1)) {
    before = last;
    last = next;
    next = x * last - before + Scalar(c);
  }
  return (next - before) * Scalar(0.5);
}

Val alternating(const Val& n, const Val& like) {
  const Val odd = binary(Prim::bit_and, n, full_like(n, 1));
  return where(eq(odd, Scalar(0)), number(like, 1.0), number(like, -1.0));
}

}  // namespace primset::decomps::math
