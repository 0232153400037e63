// Arithmetic on Element: rounding a result to its dtype while carrying the error bound along.
#ifndef PRIMSET_PRIMS_REFERENCE_ELEMENT_H_
#define PRIMSET_PRIMS_REFERENCE_ELEMENT_H_

#include <span>

#include "prims/reference/reference.h"
#include "prims/reference/tolerance.h"

namespace primset::prims::reference {

// What an operation on numbers needs to know of its node.
struct ElementOp {
  Prim prim{};
  DType from = DType::f32;     // of the first operand
  DType to = DType::f32;       // of the result
  DType compute = DType::f32;  // what sums and products are carried in
  Tolerance tolerance;
  const Node* node = nullptr;
  // Inside a combiner a device may associate otherwise, so every rounding counts as an error.
  bool order_free = false;
  PermittedDeviations deviations;
};

ElementOp make_op(const Node& node, DType from, DType to, PermittedDeviations deviations);

// What the operation may see of x: a device may take a denormal for zero in one operation and not
// in the next.
Element as_operand(const ElementOp& op, Element x);

using ElementFunction = Element (*)(const ElementOp&, std::span<const Element>);

Element real_element(long double v, long double error = 0);
Element integer_element(int64_t v);
Element undecided_element();

bool any_undecided(std::span<const Element> xs);
bool is_nan(const Element& x);  // of a floating or complex number; integers have 0 in both parts

// a < b for one dtype's real numbers, error bounds ignored; false with NaN.
bool less(DType t, const Element& a, const Element& b);
bool equal(const Element& a, const Element& b);
// May a device see another outcome of comparing a and b than the reference does?
bool may_tie_or_cross(const Element& a, const Element& b);

// |a - b|; 0 for two NaNs or equal infinities, NaN when just one of them is such a value.
long double distance(long double a, long double b);

// The exact result r of an operation, rounded to op.to, whose operands' errors move r by at most
// `spread` (NaN: into another class of values, which leaves the element undecided).
Element rounded(const ElementOp& op, long double r, long double spread);
Element rounded(const ElementOp& op, long double re, long double im, long double spread);

// ATen's conversions.
Element convert(const Element& x, DType from, DType to);
// -inf, inf and NaN give what x86 gives: see the cases in the body.
int64_t float_to_integer(long double v, DType to);

}  // namespace primset::prims::reference

#endif  // PRIMSET_PRIMS_REFERENCE_ELEMENT_H_
