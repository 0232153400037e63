// Between which numbers a value lies, whatever the inputs are.
#ifndef PRIMSET_CONFORMANCE_MUTATION_INTERVAL_H_
#define PRIMSET_CONFORMANCE_MUTATION_INTERVAL_H_

#include <optional>

#include "prims/graph/graph.h"

namespace primset::conformance {

// Both ends are finite and belong to it. A value that has one is never NaN.
struct Interval {
  long double low = 0, high = 0;
};

// Of real numbers and bools; nothing where not enough is known, or an integer might wrap.
std::optional<Interval> interval_of(const prims::Graph& graph, prims::ValueId v);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_MUTATION_INTERVAL_H_
