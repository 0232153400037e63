// The kernel families. Each function builds one kernel and the launch that goes with it; the parts
// of a launch that sizes decide stay symbolic.
#ifndef PRIMSET_CODEGEN_SCHEDULE_PROGRAM_KERNELS_H_
#define PRIMSET_CODEGEN_SCHEDULE_PROGRAM_KERNELS_H_

#include <string>
#include <vector>

#include "codegen/schedule/element/element.h"
#include "codegen/schedule/loops/frame.h"

namespace primset::schedule {

struct BuildContext {
  const Materialized& values;
  const kir::TargetModel& target;
  bool index32 = true;
  BufferId errors = 0;
  std::string name;
};

// A value to be written, and where.
struct Root {
  prims::ValueId value = prims::kNoValue;
  Placement out;
};

struct BuiltKernel {
  kir::Kernel kernel;
  LaunchStep step;
  Analysis analysis;
};
// What a frame has become, with the launch and the accesses that it has noted.
BuiltKernel built(Frame&& f);

// Every element of the roots, which share one shape, from whatever it depends on. `checks` are
// nodes of primitive `check` over the same shape.
BuiltKernel pointwise_kernel(const BuildContext& c, const SymInts& domain,
                             const std::vector<Root>& roots,
                             const std::vector<prims::NodeId>& checks);

// Reductions of operands of one shape `domain` over its dimension `dim`, and what can be computed
// with their results in the same rows: `rows` have the domain's shape without `dim`, `wide` the
// whole.
struct ReduceRequest {
  SymInts domain;
  size_t dim = 0;
  std::vector<prims::NodeId> reduces;  // in the order of their dependences
  std::vector<Root> rows, wide;
};
BuiltKernel reduce_kernel(const BuildContext& c, const ReduceRequest& r);

// An inclusive scan along `dim` (scan_sum, scan_prod or a region scan). A root is a result, or made
// of results and other values elementwise.
BuiltKernel scan_kernel(const BuildContext& c, prims::NodeId node, const std::vector<Root>& roots);

// Products of a dot_general's operands summed in tiles, and what is made of the result elementwise:
// the roots have its shape. tiles_contraction says where that is worth it (a guard, where sizes are
// symbolic); a and b are the operands' shapes.
inline constexpr int kTiledContraction = 32;
bool tiles_contraction(const prims::Node& n, const SymInts& a, const SymInts& b,
                       const kir::TargetModel& target);
BuiltKernel contraction_kernel(const BuildContext& c, prims::NodeId node,
                               const std::vector<Root>& roots);

// updates written into `target`, which already holds the operand's elements.
BuiltKernel scatter_kernel(const BuildContext& c, prims::NodeId node, const Placement& target);

// `update` of a dynamic_update_slice written into `target`, which holds the operand's elements.
BuiltKernel update_slice_kernel(const BuildContext& c, prims::NodeId node, const Placement& target);

// Stable merge sort of dense arrays [rows, length, inner] along `length` (merge_sort_kernel.cpp).
struct SortRequest {
  prims::NodeId node = 0;
  SymInt rows = 1, length = 1, inner = 1;
  std::vector<BufferId> arrays;  // keys, payloads, then an i64 array of original positions
  std::vector<BufferId> others;  // of the same sizes, for the passes to write to
  SymInt round = 0;              // counter of the loop over pairs of passes
};
// The index along `dim` of every element, i64.
BuiltKernel positions_kernel(const BuildContext& c, const SymInts& domain, size_t dim,
                             const Placement& out);
// The first step: short runs, sorted in place.
BuiltKernel sort_runs_kernel(const BuildContext& c, const SortRequest& r);
// A pass from arrays to others, or back; the latter merges runs twice as long.
BuiltKernel merge_runs_kernel(const BuildContext& c, const SortRequest& r, bool back);
// How many pairs of passes sort the runs.
SymInt sort_rounds(const SortRequest& r, const kir::TargetModel& target);

// Whether the kernel stores to `buffer` and every load of it is of the very element the same thread
// stores next: then input and output may be one memory.
bool writes_in_place(const Analysis& a, BufferId input, BufferId output);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_PROGRAM_KERNELS_H_
