#include "codegen/schedule/families/contraction/contraction_family.h"

#include "codegen/schedule/families/contraction/blocked_contraction.h"
#include "codegen/schedule/families/contraction/contraction_kernel.h"
#include "codegen/schedule/families/contraction/cooperative_contraction.h"
#include "codegen/schedule/families/contraction/pipelined_contraction.h"
#include "codegen/schedule/program/program_builder.h"
#include "prims/graph/traits.h"

namespace primset::schedule {
namespace {

// A view of what is in memory, or made by a kernel of its own, that merges dims which need not be
// neighbours there, as the heads of an attention's result. A kernel that computed where each
// element lies could not copy tiles; whoever makes the value can mostly write it where the view
// wants it.
bool is_reshaped_view(const prims::Graph& g, prims::ValueId v) {
  bool reshaped = false;
  for (prims::NodeId p; (p = g.producer(v)) != prims::Graph::kNoNode; v = g.node(p).operands[0]) {
    const prims::Prim prim = g.node(p).prim;
    reshaped |= prim == prims::Prim::reshape;
    if (prim == prims::Prim::transpose || prim == prims::Prim::reshape) continue;
    return reshaped && !prims::is_indexable(prim);
  }
  return reshaped;
}

// Products in tiles. Operands that are matrices in memory are copied asynchronously, or multiplied
// as cooperative matrices, where the device can; else operands are computed inside the kernel.
class Contraction : public Family {
 public:
  std::string_view name() const override { return "contraction"; }
  // Products that are too small for tiles have been legalised to sums.
  std::optional<Cost> cost(const prims::Graph& g, prims::NodeId node,
                           const Machine&) const override {
    if (g.node(node).prim != prims::Prim::dot_general) return std::nullopt;
    return Cost{};
  }
  bool fuses_epilogue() const override { return true; }
  OperandUse operand(const prims::Graph& g, const prims::Node& n, size_t i,
                     const Machine& machine) const override {
    const bool stored = machine.target.simt && is_reshaped_view(g, n.operands[i]);
    return stored ? OperandUse::in_memory : OperandUse::inlined;
  }
  void build(ProgramBuilder& b, const FusionGroup& group) const override {
    b.launch(kernel(b, group), group.anchor);
  }

 private:
  static BuiltKernel kernel(const ProgramBuilder& b, const FusionGroup& group) {
    const auto& operands = b.graph().node(group.anchor).operands;
    const auto left = b.placement(operands[0]), right = b.placement(operands[1]);
    const BuildContext c = b.context("contraction");
    if (!c.target.simt) return blocked_contraction(c, group.anchor, group.roots);
    for (const auto& build : {pipelined_contraction, cooperative_contraction})
      if (auto built = build(c, group.anchor, group.roots, left, right)) return std::move(*built);
    return contraction_kernel(c, group.anchor, group.roots);
  }
};

const Contraction kContraction;

}  // namespace

const Family& contraction_family = kContraction;

}  // namespace primset::schedule
