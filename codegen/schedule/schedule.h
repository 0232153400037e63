// From a PrimGraph to a Program: which values become buffers, which primitives share a kernel, and
// the kernels themselves. The passes, in order, are in schedule.cpp.
//
// "Fusion never changes a result": which schedule a reduction gets, and so its order of additions,
// depends on its logical shape alone, never on layouts or on what it is fused with.
#ifndef PRIMSET_CODEGEN_SCHEDULE_SCHEDULE_H_
#define PRIMSET_CODEGEN_SCHEDULE_SCHEDULE_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "codegen/kernel/ir/target_model.h"
#include "codegen/schedule/program/program.h"
#include "prims/graph/graph.h"

namespace primset::schedule {

// Where a graph input or output lives in memory: element strides by dimension. The first element is
// at the start of its buffer.
struct Layout {
  prims::SymInts strides;
};

struct Options {
  std::vector<Layout> inputs;   // one a graph input; ignored for scalar inputs
  std::vector<Layout> outputs;  // one a graph output
  bool index32 = true;          // every offset of the call fits 31 bits
  bool fuse = true;             // false: one kernel a node, for tests and comparison
  // SIMT: rows longer than this are sorted digit by digit, others by merging.
  int64_t radix_length = 4096;
  std::string* fusion_text = nullptr;  // set to the printed fusion plan (fusion/fusion_plan.h)
  // Does the device run this node itself (after its operands are made contiguous)?
  std::function<bool(const prims::Graph&, prims::NodeId)> native;
};

// Derived primitives that schedule() takes as they are on this target, because it knows a better
// way than their decomposition. May add guards to the graph's context.
bool takes_derived(const prims::Graph& g, prims::NodeId node, const kir::TargetModel& target);

// The graph holds core and region primitives, and derived ones that options.native or takes_derived
// accepts. May add guards to the graph's context.
Program schedule(const std::shared_ptr<const prims::Graph>& graph, const kir::TargetModel& target,
                 const Options& options);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_SCHEDULE_H_
