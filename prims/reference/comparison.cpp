// Comparisons, and the choice by one.
#include <cmath>

#include "prims/reference/elementwise.h"

namespace primset::prims::reference {
namespace {

using Operands = std::span<const Element>;

Element decide(Operands x, bool outcome) {
  if (may_tie_or_cross(x[0], x[1])) return undecided_element();
  return integer_element(outcome);
}

Element eq(const ElementOp& op, Operands x) {
  return decide(x, equal(x[0], x[1]));
}
Element lt(const ElementOp& op, Operands x) {
  return decide(x, less(op.from, x[0], x[1]));
}

Element le(const ElementOp& op, Operands x) {
  return decide(x, less(op.from, x[0], x[1]) || equal(x[0], x[1]));
}

// Both arms are right: one value that covers both, where they meet.
Element cover(DType t, const Element& x, const Element& y) {
  if (x.undecided || y.undecided) return undecided_element();
  if (is_nan(x) && is_nan(y)) return x;
  if (equal(x, y)) return x.error >= y.error ? x : y;
  long double apart = std::hypot(x.re - y.re, x.im - y.im);
  if (is_integral(t) || is_bool(t) || !(apart <= x.error + y.error)) return undecided_element();
  Element r = x;
  r.error = std::fmax(x.error, apart + y.error);
  return r;
}

Element select(const ElementOp& op, Operands x) {
  if (x[0].undecided) return cover(op.to, x[1], x[2]);
  return x[0].integer ? x[1] : x[2];
}

}  // namespace

void add_comparison(ElementTable& t) {
  t.set(Prim::eq, eq);
  t.set(Prim::lt, lt);
  t.set(Prim::le, le);
  t.set(Prim::select, reference::select);
}

}  // namespace primset::prims::reference
