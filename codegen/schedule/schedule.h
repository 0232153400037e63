// From a PrimGraph to a Program: which values become buffers, which primitives share a kernel, and
// the kernels themselves. The passes, in order, are in schedule.cpp.
//
// "Fusion never changes a result": which schedule a reduction gets, and so its order of additions,
// depends on its logical shape alone, never on layouts or on what it is fused with.
#ifndef PRIMSET_CODEGEN_SCHEDULE_SCHEDULE_H_
#define PRIMSET_CODEGEN_SCHEDULE_SCHEDULE_H_

#include <memory>

#include "codegen/schedule/options.h"
#include "codegen/schedule/program/program.h"
#include "codegen/schedule/tuning/machine.h"
#include "prims/graph/graph.h"

namespace primset::schedule {

// Derived primitives that schedule() takes as they are on this target, because it knows a better
// way than their decomposition. May add guards to the graph's context.
bool takes_derived(const prims::Graph& g, prims::NodeId node, const Machine& machine);

// The graph holds core and region primitives, and derived ones that options.native or takes_derived
// accepts. May add guards to the graph's context.
Program schedule(const std::shared_ptr<const prims::Graph>& graph, const Machine& machine,
                 const Options& options);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_SCHEDULE_H_
