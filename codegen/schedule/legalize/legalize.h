// Rewrites a graph so that every node has a kernel family and fits into one kernel. The rewrites,
// in order, are in passes.cpp.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_LEGALIZE_H_
#define PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_LEGALIZE_H_

#include <functional>
#include <span>
#include <unordered_set>

#include "codegen/schedule/legalize/passes.h"
#include "codegen/schedule/tuning/machine.h"
#include "prims/graph/graph.h"

namespace primset::schedule {

struct Legalized {
  // Inputs and outputs in the order of the old graph; shares its symbol context.
  prims::Graph graph;
  // Values that are stored and not recomputed by their readers (reused_values.h).
  std::unordered_set<prims::ValueId> reused;
  // Parts of a node that has too many operands for one kernel, which reads them from memory.
  std::unordered_set<prims::ValueId> parts;
  // Products that need no rounding before they are summed: fma may contract them.
  std::unordered_set<prims::ValueId> contractible;
};

// Does the device run this node itself? Such a node stays as it is.
using IsNative = std::function<bool(const prims::Graph&, prims::NodeId)>;

Legalized legalize(const prims::Graph& graph, const Machine& machine, const IsNative& native,
                   std::span<const Pass> passes = legalize_passes());

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_LEGALIZE_H_
