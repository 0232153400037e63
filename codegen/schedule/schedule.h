// From a PrimGraph to a Program: legalize, plan the fusion, build kernels and steps (schedule.cpp).
//
// Fusion never changes a result: the schedule of a reduction, and so its order of additions,
// depends on its logical shape and the target alone, never on layouts or on what it is fused with
// (docs/decisions/order_of_additions.md).
//
// Threads: calls may run at once on different graphs. Errors: Error{not_implemented} for a
// primitive that has no schedule on the target.
#ifndef PRIMSET_CODEGEN_SCHEDULE_SCHEDULE_H_
#define PRIMSET_CODEGEN_SCHEDULE_SCHEDULE_H_

#include <memory>

#include "codegen/schedule/options.h"
#include "codegen/schedule/program/program.h"
#include "codegen/schedule/tuning/machine.h"
#include "prims/graph/graph.h"

namespace primset::schedule {

// Is this a derived primitive that schedule() computes without its decomposition on this target?
// May add guards to the graph's context.
bool is_legal_derived(const prims::Graph& g, prims::NodeId node, const Machine& machine);

// The graph holds core and region primitives, and derived ones that options.native or
// is_legal_derived accepts. May add guards to the graph's context.
Program schedule(const std::shared_ptr<const prims::Graph>& graph, const Machine& machine,
                 const Options& options);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_SCHEDULE_H_
