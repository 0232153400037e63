// Which values are stored rather than recomputed for each read.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_REUSED_VALUES_H_
#define PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_REUSED_VALUES_H_

#include <span>
#include <unordered_set>

#include "codegen/kernel/ir/target_model.h"
#include "prims/graph/graph.h"

namespace primset::schedule {

// The elementwise values that the `reused` ones are views or conversions of, or what a conversion
// to fewer bits makes of these. `reused` are operands of which each element is read many times, as
// a product reads a row for each column, and operands of native primitives, which are in memory
// anyway. In addition, what is costly and broadcast:
// numbers, and tables that are made of indices alone; on a CPU a table of some operations that is
// repeated often, too. Each element is computed once and not again for every one that it is
// repeated as.
std::unordered_set<prims::ValueId> reused_values(const prims::Graph& g,
                                                 std::span<const prims::ValueId> reused,
                                                 const kir::TargetModel& target);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_REUSED_VALUES_H_
