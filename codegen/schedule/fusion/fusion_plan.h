// What shares a kernel, before any kernel is built.
//
// The values of a graph either live in memory or are computed where they are asked for, inside the
// kernels of others. A FusionGroup is one kernel (or one primitive that a family makes several
// steps of): the values that it writes, the nodes that it computes on the way, the values that it
// reads. Every value in memory has one place.
//
// For each value that could have been computed inside its readers and is not, the plan says why.
// print() has all of it: `primset explain --stage fusion`.
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

// Why a value is written to memory instead of being computed in the kernels that read it.
enum class NotFused : uint8_t {
  graph_output,     // somebody outside of the graph wants it
  family_operand,   // a family that reads memory wants it: a library's product, a sort
  reused_operand,   // the reader reads each element many times: an operand of a product
  recompute_cost,   // several kernels read it, and computing it in each would cost more
  other_index,      // a reduction's result is asked for at another row than the kernel's own
  other_rows,       // the readers' rows are not the reduction's
  other_family,     // no kernel holds both
  order,            // the kernel would have to read what is made of its own results
  operation_limit,  // the kernel would be too long
  depth_limit,      // or too deep
  parameter_limit,  // or have too many parameters
  loop_carried,     // it goes from one iteration to the next
  fusion_off,
};
std::string_view text(NotFused why);

// The index space of an access inside a group.
enum class Space : uint8_t {
  root,     // that of the group's first result
  wide,     // a reduction group: its domain
  rows,     // and that without the reduced dim
  operand,  // the shape of an operand that the group's family goes over as it likes
  copied,   // of an operand that is copied before
};

struct Read {
  prims::ValueId value = prims::kNoValue;
  Space space = Space::root;
  Indices at;
};

// A region of a control flow primitive: its groups in the order they run, and where its results go.
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
  // Reduction: along this dim of the domain. `reduces` in the order of their dependences.
  size_t dim = 0;
  std::vector<prims::NodeId> reduces;
  std::vector<Root> roots;            // what is written, and where
  std::vector<prims::NodeId> checks;  // `check` nodes that ride in the kernel
  std::vector<prims::NodeId> nodes;   // computed inside, besides reduces and anchor
  std::vector<Read> reads;
  // A copy: where the value lies that it writes; nullopt: at its place.
  std::optional<Placement> source;
  // Control flow: the regions, and for loops where each carried value is and where its next one is
  // made.
  std::vector<RegionPlan> regions;
  std::vector<Placement> carried, next;
  uint32_t operations = 0, parameter_bytes = 0;
};

struct Unfused {
  prims::ValueId value = prims::kNoValue;
  NotFused why = NotFused::graph_output;
};

// An output that is computed aside and copied, since something still reads the input whose memory
// it takes over.
struct Detached {
  uint32_t output = 0;
  prims::ValueId reader = prims::kNoValue;  // a value that is made from that input
};

// A region's result that lies where it is wanted already, in memory that an output takes over.
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
  std::vector<prims::ValueId> empty;  // without elements: they have a place, and nobody writes it
  // Values that only view what is in memory, and of which value.
  std::unordered_map<prims::ValueId, prims::ValueId> views;
  std::unordered_map<prims::ValueId, SymInt> counters;  // of loops, by the region's parameter
  std::vector<Unfused> unfused;
  std::vector<Detached> detached;
  std::vector<InPlace> in_place;

  static constexpr BufferId kNoBuffer = UINT32_MAX;
};

// Is `out` memory of an output that takes over an input, and what lies at `at` there already?
bool takes_over(const FusionPlan& plan, const prims::Graph& g, const Placement& at,
                const Placement& out);

// For people.
std::string print(const FusionPlan& plan, const prims::Graph& graph);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FUSION_FUSION_PLAN_H_
