// Results that are right when they have a property, since more than one is right: a factorisation
// is unique up to signs, and ties may be broken either way.
#ifndef PRIMSET_CONFORMANCE_COMPARE_PROPERTY_H_
#define PRIMSET_CONFORMANCE_COMPARE_PROPERTY_H_

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "prims/reference/reference.h"

namespace primset::conformance {

using prims::reference::Array;
using prims::reference::Element;

struct Property {
  // "": it holds; else what is wrong. `inputs` are the call's tensor arguments, `outputs` the
  // results that it is a property of.
  using Check = std::string (*)(std::span<const Array> inputs, std::span<const Array> outputs);

  Check check;
  // The results that are judged by it; others by their values.
  size_t first = 0, count = std::numeric_limits<size_t>::max();

  bool covers(size_t result) const { return result >= first && result - first < count; }
};

// The property that replaces comparison for an operator, by name without overload, or for a
// primitive, "prim/NAME"; null for most.
const Property* property_of(std::string_view op);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_COMPARE_PROPERTY_H_
