// The primitives that work on one number at a time: a table from primitive to function.
#ifndef PRIMSET_PRIMS_REFERENCE_ELEMENTWISE_H_
#define PRIMSET_PRIMS_REFERENCE_ELEMENTWISE_H_

#include <initializer_list>
#include <vector>

#include "prims/reference/element.h"

namespace primset::prims::reference {

class ElementTable {
 public:
  ElementTable() : functions_(static_cast<size_t>(prim_count()), nullptr) {}
  void set(Prim p, ElementFunction f) { functions_[static_cast<size_t>(p)] = f; }
  ElementFunction find(Prim p) const { return functions_[static_cast<size_t>(p)]; }

 private:
  std::vector<ElementFunction> functions_;
};

void add_unary(ElementTable&);
void add_arithmetic(ElementTable&);
void add_bits(ElementTable&);
void add_comparison(ElementTable&);
void add_conversion(ElementTable&);
void add_special(ElementTable&);

// Null when the primitive does not work on one number at a time.
ElementFunction find_elementwise(Prim p);

// How far f may move when its operands move within their bounds: the greatest distance from
// f(x, y) over the corners. NaN when a corner is of another class of values.
template <typename F>
long double corner_spread(const Element& x, const Element& y, F f) {
  if (x.error == 0 && y.error == 0) return 0;
  long double r = f(x.re, y.re), spread = 0;
  for (long double a : {x.re - x.error, x.re, x.re + x.error}) {
    for (long double b : {y.re - y.error, y.re, y.re + y.error}) {
      long double d = distance(f(a, b), r);
      if (d != d) return d;
      spread = d > spread ? d : spread;
    }
  }
  return spread;
}

}  // namespace primset::prims::reference

#endif  // PRIMSET_PRIMS_REFERENCE_ELEMENTWISE_H_
