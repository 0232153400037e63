#include "prims/reference/elementwise.h"

namespace primset::prims::reference {

ElementFunction find_elementwise(Prim p) {
  static const ElementTable* table = [] {
    auto* t = new ElementTable;
    add_unary(*t);
    add_arithmetic(*t);
    add_bits(*t);
    add_comparison(*t);
    add_conversion(*t);
    add_special(*t);
    return t;
  }();
  return table->find(p);
}

}  // namespace primset::prims::reference
