// Rewrites a graph so that what is left has a kernel family: contractions become products and sums
// (unless the device runs them, or tiles pay), every reduction goes along one dimension, long
// reductions take two steps, and searches for positions become reductions of pairs.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_LEGALIZE_H_
#define PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_LEGALIZE_H_

#include <functional>
#include <unordered_set>

#include "codegen/schedule/tuning/machine.h"
#include "prims/graph/graph.h"

namespace primset::schedule {

struct Legalized {
  // Has the inputs and outputs of the old one in the same order, and its context.
  prims::Graph graph;
  // Computed operands of contractions. Each of their elements is read once for every row or column
  // of the other operand: they are better read from memory than computed every time. And those of
  // native primitives, which are in memory anyway.
  std::unordered_set<prims::ValueId> reread;
  // Products that need not be rounded before they are added up.
  std::unordered_set<prims::ValueId> unrounded;
};

Legalized legalize(const prims::Graph& graph, const Machine& machine,
                   const std::function<bool(const prims::Graph&, prims::NodeId)>& native);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_LEGALIZE_H_
