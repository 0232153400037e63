#include "codegen/schedule/families/fft/butterfly.h"

#include <cmath>
#include <numbers>

namespace primset::schedule {

using kir::Builder;
using kir::Value;

namespace {

// a b + c and a b - c, rounded once where the device can.
Value times_plus(Builder& b, Value x, Value y, Value z) {
  return b.target().fused_fma ? b.fma(x, y, z) : b.fadd(b.fmul(x, y), z);
}
Value minus_times(Builder& b, Value z, Value x, Value y) {
  return b.target().fused_fma ? b.fma(b.fneg(x), y, z) : b.fsub(z, b.fmul(x, y));
}

ElementValue add(Builder& b, const ElementValue& x, const ElementValue& y) {
  return {b.fadd(x.re, y.re), b.fadd(x.im, y.im)};
}
ElementValue sub(Builder& b, const ElementValue& x, const ElementValue& y) {
  return {b.fsub(x.re, y.re), b.fsub(x.im, y.im)};
}
Value constant_like(Builder& b, Value like, double v) {
  return b.constant_f(b.type(like), v);
}
// -i x forward, i x backward.
ElementValue quarter_turn(Builder& b, const ElementValue& x, bool forward) {
  return forward ? ElementValue{x.im, b.fneg(x.re)} : ElementValue{b.fneg(x.im), x.re};
}

// x e^(-2 pi i k / n), for a power that is known. Eighths of a turn take no product, or two.
ElementValue turned(Builder& b, const ElementValue& x, int64_t k, int64_t n, bool forward) {
  k %= n;
  if (8 * k % n == 0) {
    const int64_t eighths = 8 * k / n;
    ElementValue y = x;
    for (int64_t quarter = 0; quarter < eighths / 2; ++quarter) y = quarter_turn(b, y, forward);
    if (eighths % 2 == 0) return y;
    const ElementValue sum = add(b, y, quarter_turn(b, y, forward));
    const Value root = constant_like(b, y.re, std::numbers::sqrt2 / 2);
    return {b.fmul(sum.re, root), b.fmul(sum.im, root)};
  }
  const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
  const ElementValue w{constant_like(b, x.re, std::cos(angle)),
                       constant_like(b, x.re, forward ? -std::sin(angle) : std::sin(angle))};
  return complex_product(b, x, w);
}

// Of odd length n: what x[j] and x[n - j] have in common, and in what they differ, serve elements k
// and n - k of the result alike.
Complexes odd_butterfly(Builder& b, const Complexes& x, bool forward) {
  const size_t n = x.size(), half = n / 2;
  Complexes sums, differences, y(n);
  y[0] = x[0];
  for (size_t j = 1; j <= half; ++j) {
    sums.push_back(add(b, x[j], x[n - j]));
    differences.push_back(quarter_turn(b, sub(b, x[j], x[n - j]), forward));
    y[0] = add(b, y[0], sums.back());
  }
  for (size_t k = 1; k <= half; ++k) {
    ElementValue even = x[0], odd;
    for (size_t j = 1; j <= half; ++j) {
      const double angle =
          2 * std::numbers::pi * static_cast<double>(j * k % n) / static_cast<double>(n);
      const Value c = constant_like(b, x[0].re, std::cos(angle));
      const Value s = constant_like(b, x[0].re, std::sin(angle));
      const ElementValue &t = sums[j - 1], &d = differences[j - 1];
      even = {times_plus(b, t.re, c, even.re), times_plus(b, t.im, c, even.im)};
      odd = j == 1 ? ElementValue{b.fmul(d.re, s), b.fmul(d.im, s)}
                   : ElementValue{times_plus(b, d.re, s, odd.re), times_plus(b, d.im, s, odd.im)};
    }
    y[k] = add(b, even, odd);
    y[n - k] = sub(b, even, odd);
  }
  return y;
}

}  // namespace

ElementValue complex_product(Builder& b, const ElementValue& x, const ElementValue& y) {
  return {minus_times(b, b.fmul(x.re, y.re), x.im, y.im),
          times_plus(b, x.re, y.im, b.fmul(x.im, y.re))};
}

Complexes butterfly(Builder& b, const Complexes& x, bool forward) {
  const size_t n = x.size();
  if (n == 1) return x;
  if (n == 2) return {add(b, x[0], x[1]), sub(b, x[0], x[1])};
  if (n % 2 != 0 && n <= 7) return odd_butterfly(b, x, forward);
  // As n1 n2, with j = j1 n2 + j2 and k = k2 n1 + k1.
  const size_t n1 = n % 4 == 0 && n > 4 ? 4 : n % 2 == 0 ? 2 : n % 3 == 0 ? 3 : n % 5 == 0 ? 5 : 7;
  const size_t n2 = n / n1;
  std::vector<Complexes> rows(n1, Complexes(n2));
  for (size_t j2 = 0; j2 < n2; ++j2) {
    Complexes column;
    for (size_t j1 = 0; j1 < n1; ++j1) column.push_back(x[j1 * n2 + j2]);
    column = butterfly(b, column, forward);
    for (size_t k1 = 0; k1 < n1; ++k1)
      rows[k1][j2] =
          turned(b, column[k1], static_cast<int64_t>(k1 * j2), static_cast<int64_t>(n), forward);
  }
  Complexes y(n);
  for (size_t k1 = 0; k1 < n1; ++k1) {
    const Complexes row = butterfly(b, rows[k1], forward);
    for (size_t k2 = 0; k2 < n2; ++k2) y[k2 * n1 + k1] = row[k2];
  }
  return y;
}

}  // namespace primset::schedule
