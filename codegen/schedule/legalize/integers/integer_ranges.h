// Between which bounds the integers of a graph lie: those of an index, a count or a conversion from
// a narrow dtype, whatever the tensors hold. Bounds may depend on sizes.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_INTEGERS_INTEGER_RANGES_H_
#define PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_INTEGERS_INTEGER_RANGES_H_

#include <optional>
#include <vector>

#include "prims/graph/graph.h"

namespace primset::schedule {

struct IntegerRange {
  prims::SymInt low = 0, high = 0;  // both belong to it
};

// By value: the mathematical value of each element, before any wrapping, where bounds are known.
// nullopt for floats, and where there are none.
std::vector<std::optional<IntegerRange>> integer_ranges(const prims::Graph& graph);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_INTEGERS_INTEGER_RANGES_H_
