// Which nodes share a kernel, decided before any kernel is built (docs/decisions/fusion_plan.md).
//
// A value is either materialised, that is stored in memory, or inlined: computed inside the kernels
// that read it. A FusionGroup is one kernel, or one primitive for which a family emits several
// steps: the values that it writes (roots), the nodes that it computes, the values that it reads.
// Every materialised value has one placement.
//
// For each value that could have been inlined and is not, the plan states the reason. print()
// writes the whole plan: `primset explain --stage fusion`.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FUSION_FUSION_PLAN_H_
#define PRIMSET_CODEGEN_SCHEDULE_FUSION_FUSION_PLAN_H_

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "codegen/schedule/families/family.h"
#include "codegen/schedule/program/kernels.h"

namespace primset::schedule {

using GroupId = uint32_t;

// Why a value is materialised instead of inlined into its readers.
enum class NotFused : uint8_t {
  graph_output,     // it is an output of the graph
  family_operand,   // its reader reads memory: a native primitive, a sort
  reused_operand,   // its reader reads each element many times: an operand of a product
  recompute_cost,   // several kernels read it, and recomputing it in each would cost more
  other_index,      // a reduction's result is read at another row than the kernel's current one
  other_rows,       // the readers do not iterate over the reduction's rows
  other_family,     // no kernel computes both
  order,            // the kernel would depend on its own results
  operation_limit,  // the kernel would have too many operations (KernelLimits)
  depth_limit,      // or too deep expressions
  parameter_limit,  // or too many parameters
  waiting_rows,     // it has a loop an element, in which the threads of a row would wait for each
                    // other
  loop_carried,     // it is carried from one iteration of a loop to the next
  fusion_off,
};
std::string_view text(NotFused why);

// The index space of an access inside a group.
enum class Space : uint8_t {
  root,     // the shape of the group's first result
  domain,   // reduction group: its whole domain
  rows,     // reduction group: its domain without the reduced dim
  operand,  // the shape of an operand, which the family reads in an order of its own
  copied,   // the shape of an operand that is copied first
};

struct Read {
  prims::ValueId value = prims::kNoValue;
  Space space = Space::root;
  Indices at;
};

// A region of a control flow primitive: its groups in execution order, and the placements of its
// results.
struct RegionPlan {
  uint32_t region = 0;
  std::vector<GroupId> order;
  std::vector<Placement> results;
};

struct FusionGroup {
  const Family* family = nullptr;
  // The primitive that the family computes; kNoNode: a pointwise or reduction group.
  prims::NodeId anchor = prims::Graph::kNoNode;
  SymInts domain;  // pointwise, reduction
  // Reduction: the reduced dim of the domain; the reductions in topological order.
  size_t dim = 0;
  std::vector<prims::NodeId> reduces;
  std::vector<Root> roots;            // values that are stored, and where
  std::vector<prims::NodeId> checks;  // `check` nodes that the kernel evaluates
  std::vector<prims::NodeId> nodes;   // inlined nodes, besides reduces and anchor
  std::vector<Read> reads;
  // A copy: where the value lies that it writes; nullopt: at its place.
  std::optional<Placement> source;
  // Control flow: the regions; for loops the placement of each carried value, and of its next one.
  std::vector<RegionPlan> regions;
  std::vector<Placement> carried, next;
  uint32_t operations = 0, parameter_bytes = 0;
};

struct Unfused {
  prims::ValueId value = prims::kNoValue;
  NotFused why = NotFused::graph_output;
};

// An output that is computed into a temporary and copied at the end, since something still reads
// the input whose memory it takes over.
struct Detached {
  uint32_t output = 0;
  prims::ValueId reader = prims::kNoValue;  // a value that depends on that input
};

// A region's result that is already at its placement, in memory that an output takes over.
struct InPlace {
  prims::ValueId value = prims::kNoValue;
  Placement place;
  uint32_t region = 0;
};

struct FusionPlan {
  std::vector<FusionGroup> groups;
  std::vector<GroupId> order;  // of the graph's body
  std::vector<Buffer> buffers;
  BufferId errors = 0;
  std::vector<BufferId> input_buffers;  // by graph input; kNoBuffer: a scalar
  std::unordered_map<prims::ValueId, Placement> places;
  std::vector<prims::ValueId> empty;  // values without elements: placed, but never written
  // Values that are views of materialised values, and of which.
  std::unordered_map<prims::ValueId, prims::ValueId> views;
  std::unordered_map<prims::ValueId, SymInt> counters;  // of loops, by the region's parameter
  std::vector<Unfused> unfused;
  std::vector<Detached> detached;
  std::vector<InPlace> in_place;

  static constexpr BufferId kNoBuffer = UINT32_MAX;
};

// Is `out` the memory of an output that takes over an input, and `at` the same placement, so that a
// copy is not needed?
bool takes_over(const FusionPlan& plan, const prims::Graph& g, const Placement& at,
                const Placement& out);

// The text of `primset explain --stage fusion`.
std::string print(const FusionPlan& plan, const prims::Graph& graph);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FUSION_FUSION_PLAN_H_
