#include "codegen/schedule/legalize/legalizer.h"

#include <utility>

#include "codegen/schedule/legalize/reused_values.h"

namespace primset::schedule {

using prims::Graph;
using prims::Node;
using prims::NodeId;
using prims::Prim;

Legalizer::Legalizer(const Graph& from, const Machine& machine, const IsNative& native,
                     std::span<const Pass> passes)
    : from_(from),
      machine_(machine),
      native_(native),
      passes_(passes),
      legal_{Graph(from.shared_context()), {}, {}, {}},
      builder_(legal_.graph),
      rewriter_(from, builder_, [this](prims::Rewriter&, NodeId id, const Values& operands) {
        return std::optional(rewritten(id, operands));
      }) {}

Legalized Legalizer::run() && {
  rewriter_.graph();
  legal_.reused = reused_values(legal_.graph, reused_, target());
  return std::move(legal_);
}

// A native node stays. It reads memory: what else is made of an operand may read the same.
Values Legalizer::rewritten(NodeId id, const Values& operands) {
  if (!native_ || !native_(from_, id)) return offer({from_.node(id), operands, id}, 0);
  for (ValueId v : operands) {
    if (v != prims::kNoValue) note_reused(v);
  }
  return rewriter_.copy(id, operands);
}

Values Legalizer::offer(const Op& op, size_t first) {
  const size_t before = next_;
  for (size_t i = first; i < passes_.size(); ++i) {
    next_ = i + 1;
    std::optional<Values> made = passes_[i].rewrite(*this, op);
    next_ = before;
    if (made) return *std::move(made);
  }
  return emit(op);
}

Values Legalizer::emit(const Op& op) {
  if (op.source != Graph::kNoNode) return rewriter_.copy(op.source, op.operands);
  std::vector<prims::Region> regions;
  if (op.combine) regions.push_back((*op.combine)());
  return builder_.add(op.prim(), op.operands, op.node.attrs, std::move(regions));
}

Values Legalizer::add(Prim prim, const Values& operands, std::vector<prims::Attr> attrs,
                      const MakeRegion& combine) {
  const Node node{prim, {}, {}, std::move(attrs), {}};
  return offer({node, operands, Graph::kNoNode, combine ? &combine : nullptr}, next_);
}

ValueId Legalizer::reduce_sum(ValueId x, const Ints& dims) {
  return add(Prim::reduce_sum, {x}, {{"dims", dims}})[0];
}

Values Legalizer::replace_operands(const Op& op, const Values& operands) {
  return offer({op.node, operands, op.source, op.combine}, next_);
}

prims::Region Legalizer::combine_region(const Op& op) {
  return op.combine ? (*op.combine)() : rewriter_.region(op.node.regions.at(0));
}

}  // namespace primset::schedule
