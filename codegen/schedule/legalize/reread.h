// Which values are stored rather than recomputed for each read.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_REREAD_H_
#define PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_REREAD_H_

#include <span>
#include <unordered_set>

#include "prims/graph/graph.h"

namespace primset::schedule {

// What the `repeated` values are computed from, where that is arithmetic and not only a way of
// looking at memory. Those are operands that are read over and over, as a product reads a row for
// each column, and operands of native primitives, which are in memory anyway. And numbers that take
// effort and are repeated over an array: each is computed once, not with each element it meets.
std::unordered_set<prims::ValueId> reread_values(const prims::Graph& g,
                                                 std::span<const prims::ValueId> repeated);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_REREAD_H_
