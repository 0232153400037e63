#include "decomps/primitives/special/approximation.h"

#include <algorithm>
#include <cmath>

namespace primset::decomps::math {
namespace {

Val extended(Val sum, const Val& x, std::span<const double> rest) {
  for (double c : rest) sum = fma(sum, x, number(x, c));
  return sum;
}

// What f32 keeps of a series for f64: the first coefficients, of the highest degrees, are left out
// while their sum is below 2^-30 of the greatest one.
std::span<const double> kept(std::span<const double> coefficients, DType t) {
  if (t == DType::f64) return coefficients;
  double greatest = 0, left_out = 0;
  for (double c : coefficients) greatest = std::max(greatest, std::abs(c));
  while (coefficients.size() > 1) {
    left_out += std::abs(coefficients[0]);
    if (left_out > greatest * 0x1p-30) break;
    coefficients = coefficients.subspan(1);
  }
  return coefficients;
}

}  // namespace

Val polynomial(const Val& x, std::span<const double> coefficients) {
  return extended(number(x, coefficients[0]), x, coefficients.subspan(1));
}

Val monic_polynomial(const Val& x, std::span<const double> coefficients) {
  return extended(x + Scalar(coefficients[0]), x, coefficients.subspan(1));
}

Val chebyshev(const Val& x, std::span<const double> series) {
  const std::span<const double> coefficients = kept(series, x.dtype());
  Val next = number(x, coefficients[0]), last = number(x, 0.0), before = last;
  for (double c : coefficients.subspan(1)) {
    before = last;
    last = next;
    next = fma(x, last, number(x, c) - before);
  }
  return (next - before) * Scalar(0.5);
}

Val seldom(const Val& at, const Val& x, const Numbers& rest,
           const std::function<Val(const Val& x, const Numbers& rest)>& f) {
  Tracer& t = x.tracer();
  Numbers carried = {convert(at, x.dtype()), x};  // whether to go on, x or the value
  carried.insert(carried.end(), rest.begin(), rest.end());
  const std::vector<DType> types(carried.size(), x.dtype());
  const auto more = [](const Numbers& v) { return Numbers{gt(v[0], Scalar(0.0))}; };
  const auto once = [&](const Numbers& v) {
    Numbers next = v;
    next[0] = number(v[0], 0.0);
    next[1] = f(v[1], Numbers(v.begin() + 2, v.end()));
    return next;
  };
  const auto body = [&](const Numbers& v) {
    return Numbers{t.prim(Prim::while_loop, v, {},
                          {t.scalar_region(types, more), t.scalar_region(types, once)})[1]};
  };
  return t.prim(Prim::map, carried, {}, {t.scalar_region(types, body)})[0];
}

Val alternating(const Val& n, const Val& like) {
  const Val odd = binary(Prim::bit_and, n, full_like(n, 1));
  return where(eq(odd, Scalar(0)), number(like, 1.0), number(like, -1.0));
}

}  // namespace primset::decomps::math
