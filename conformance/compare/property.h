// Results that are right when they have a property, since more than one is right: a factorisation
// is unique up to signs, and ties may be broken either way.
#ifndef PRIMSET_CONFORMANCE_COMPARE_PROPERTY_H_
#define PRIMSET_CONFORMANCE_COMPARE_PROPERTY_H_

#include <span>
#include <string>
#include <string_view>

#include "prims/reference/reference.h"

namespace primset::conformance {

using prims::reference::Array;
using prims::reference::Element;

// "": the property holds; else what is wrong. `inputs` are the call's tensor arguments, `outputs`
// its results.
using Property = std::string (*)(std::span<const Array> inputs, std::span<const Array> outputs);

// The property that replaces comparison for an operator, by name without overload, or for a
// primitive, "prim/NAME"; null for most.
Property property_of(std::string_view op);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_COMPARE_PROPERTY_H_
