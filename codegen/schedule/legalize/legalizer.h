// The walk over a graph that legalize() makes, and the interface of its passes.
//
// Nodes are rebuilt in their order (prims/graph/rewriter.h). Each is offered to the passes from the
// first to the last, and the first that rewrites it gives the new results. The nodes that this pass
// adds are offered to the passes after it. The graph is the same as if each pass had run over all
// of it, one after the other; but it is built once, and a pass that has nothing to do costs
// nothing.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_LEGALIZER_H_
#define PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_LEGALIZER_H_

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "codegen/schedule/legalize/legalize.h"
#include "prims/graph/rewriter.h"

namespace primset::schedule {

using Ints = std::vector<int64_t>;
using prims::ValueId;
using Values = prims::Builder::Values;
// Builds a combiner's region once more: no two nodes have one region.
using MakeRegion = std::function<prims::Region()>;

// A primitive on its way into the legal graph, whose operands are there.
struct Op {
  const prims::Node& node;  // the primitive, its attributes and regions; not its operands
  const Values& operands;   // kNoValue for one that is absent
  // The node of the old graph that it is; kNoNode: a pass made it, and `combine` its region.
  prims::NodeId source = prims::Graph::kNoNode;
  const MakeRegion* combine = nullptr;

  prims::Prim prim() const { return node.prim; }
  template <typename T>
  const T& attr(std::string_view name) const {
    return node.attr<T>(name);
  }
};

class Legalizer {
 public:
  Legalizer(const prims::Graph& from, const Machine& machine, const IsNative& native,
            std::span<const Pass> passes);
  Legalizer(const Legalizer&) = delete;
  Legalizer& operator=(const Legalizer&) = delete;

  Legalized run() &&;

  const Machine& machine() const { return machine_; }
  const kir::TargetModel& target() const { return machine_.target; }
  // The old graph, and what its values and regions become.
  prims::Rewriter& rewriter() { return rewriter_; }
  // Nodes that it appends are offered to no pass.
  prims::Builder& builder() { return builder_; }

  // The results of a primitive that the passes behind the one at work are offered.
  Values add(prims::Prim prim, const Values& operands, std::vector<prims::Attr> attrs,
             const MakeRegion& combine = {});
  ValueId reduce_sum(ValueId x, const Ints& dims);
  // Of the op itself with other operands, which they are offered too.
  Values replace_operands(const Op& op, const Values& operands);
  // The region of an op that reduces or scans, for a node of the new graph.
  prims::Region combine_region(const Op& op);

  // A kernel reads each element of `v` many times.
  void note_reused(ValueId v) { reused_.push_back(v); }
  void note_part(ValueId v) { legal_.parts.insert(v); }
  void note_contractible(ValueId product) { legal_.contractible.insert(product); }

 private:
  Values rewritten(prims::NodeId id, const Values& operands);
  Values offer(const Op& op, size_t first);
  Values emit(const Op& op);

  const prims::Graph& from_;
  const Machine& machine_;
  const IsNative& native_;
  const std::span<const Pass> passes_;
  size_t next_ = 0;  // the pass behind the one at work
  Legalized legal_;
  Values reused_;
  prims::Builder builder_;
  prims::Rewriter rewriter_;
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_LEGALIZER_H_
