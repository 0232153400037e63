#include <cmath>
#include <numbers>

#include "prims/reference/elementwise.h"
#include "prims/reference/float_format.h"

namespace primset::prims::reference {
namespace {

using Operands = std::span<const Element>;
using Function = long double (*)(long double);

bool computes_integers(DType t) {
  return is_integral(t) || is_bool(t);
}

// Functions that rise or fall all the way between the ends of the operand's interval.
template <Function F>
Element monotone(const ElementOp& op, Operands x) {
  if (x[0].undecided) return x[0];
  auto f = [](long double v, long double) { return F(v); };
  return rounded(op, F(x[0].re), corner_spread(x[0], {}, f));
}

// Functions whose slope is nowhere more than 1.
template <Function F>
Element gentle(const ElementOp& op, Operands x) {
  if (x[0].undecided) return x[0];
  long double r = F(x[0].re);
  return rounded(op, r, std::fmin(x[0].error, 2));
}

// Functions that jump: a jump within the operand's interval leaves the result undecided.
template <Function F>
Element step(const ElementOp& op, Operands x) {
  if (x[0].undecided) return x[0];
  long double r = F(x[0].re);
  if (x[0].error > 0 && (F(x[0].re - x[0].error) != r || F(x[0].re + x[0].error) != r)) {
    return undecided_element();
  }
  return real_element(r);
}

// The tangent has a pole where the cosine changes its sign.
Element tangent(const ElementOp& op, Operands x) {
  if (!x[0].undecided && x[0].error > 0) {
    long double low = std::cos(x[0].re - x[0].error), high = std::cos(x[0].re + x[0].error);
    if (x[0].error > 1 || (low < 0) != (high < 0)) return undecided_element();
  }
  return monotone<std::tan>(op, x);
}

Element square_root(const ElementOp& op, Operands x) {
  if (x[0].undecided) return x[0];
  if (op.to == DType::f64 && x[0].error == 0) {
    return rounded(op, std::sqrt(static_cast<double>(x[0].re)), 0);  // rounded once
  }
  return monotone<std::sqrt>(op, x);
}

Element negate(const ElementOp& op, Operands x) {
  Element r = x[0];
  if (computes_integers(op.to)) {
    r.integer = wrap(static_cast<int64_t>(-static_cast<uint64_t>(r.integer)), op.to);
    return r;
  }
  r.re = -r.re;
  if (is_complex(op.to)) r.im = -r.im;
  return r;
}

Element magnitude(const ElementOp& op, Operands x) {
  if (is_signed_integer(op.to) && x[0].integer < 0) return negate(op, x);
  Element r = x[0];
  r.re = std::fabs(r.re);
  return r;
}

Element sign(const ElementOp& op, Operands x) {
  if (x[0].undecided) return x[0];
  if (computes_integers(op.to)) {
    bool negative = is_signed_integer(op.to) && x[0].integer < 0;
    return integer_element(negative ? -1 : x[0].integer != 0);
  }
  return step<[](long double v) -> long double { return (v > 0) - (v < 0); }>(op, x);
}

// The quotient's rounding is made good to first order: erfc's tail would show it squared.
long double normal_cdf(long double v) {
  constexpr long double kHalfRoot = 0.5L * std::numbers::sqrt2_v<long double>;
  const long double z = -v * kHalfRoot;
  if (!std::isfinite(z)) return std::erfc(z) / 2;
  const long double rest = std::fma(-v, kHalfRoot, -z);
  const long double slope = 2 * std::numbers::inv_sqrtpi_v<long double> * std::exp(-z * z);
  return (std::erfc(z) - slope * rest) / 2;
}

long double round_half_even(long double v) {
  return std::nearbyint(v);
}

}  // namespace

void add_unary(ElementTable& t) {
  t.set(Prim::neg, negate);
  t.set(Prim::abs, magnitude);
  t.set(Prim::sign, sign);
  t.set(Prim::floor, step<std::floor>);
  t.set(Prim::ceil, step<std::ceil>);
  t.set(Prim::trunc, step<std::trunc>);
  t.set(Prim::round_even, step<round_half_even>);
  t.set(Prim::sqrt, square_root);
  t.set(Prim::exp, monotone<std::exp>);
  t.set(Prim::expm1, monotone<std::expm1>);
  t.set(Prim::exp2, monotone<std::exp2>);
  t.set(Prim::log, monotone<std::log>);
  t.set(Prim::log1p, monotone<std::log1p>);
  t.set(Prim::log2, monotone<std::log2>);
  t.set(Prim::log10, monotone<std::log10>);
  t.set(Prim::sin, gentle<std::sin>);
  t.set(Prim::cos, gentle<std::cos>);
  t.set(Prim::tan, tangent);
  t.set(Prim::atan, monotone<std::atan>);
  t.set(Prim::tanh, monotone<std::tanh>);
  t.set(Prim::erf, monotone<std::erf>);
  t.set(Prim::erfc, monotone<std::erfc>);
  t.set(Prim::normal_cdf, monotone<normal_cdf>);
}

}  // namespace primset::prims::reference
