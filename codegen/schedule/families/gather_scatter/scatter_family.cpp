#include "codegen/schedule/families/gather_scatter/scatter_family.h"

#include "codegen/schedule/families/gather_scatter/scatter_kernel.h"
#include "codegen/schedule/program/program_builder.h"
#include "prims/graph/traits.h"

namespace primset::schedule {
namespace {

class Scatter : public Family {
 public:
  std::string_view name() const override { return "scatter"; }
  std::optional<Cost> cost(const prims::Graph& g, prims::NodeId node,
                           const Machine&) const override {
    const prims::Prim p = g.node(node).prim;
    if (!prims::is_scatter(p) || prims::traits(p).tier != prims::Tier::core) return std::nullopt;
    return Cost{};
  }
  // Updates go into a copy of the first operand, which is its own memory where that is taken over.
  OperandUse operand(const prims::Graph&, const prims::Node&, size_t index,
                     const Machine&) const override {
    return index == 0 ? OperandUse::copied : OperandUse::inlined;
  }
  void build(ProgramBuilder& b, const FusionGroup& group) const override {
    const Placement& out = group.roots[0].out;
    b.copy_into(b.graph().node(group.anchor).operands[0], out);
    b.launch(scatter_kernel(b.context("scatter"), group.anchor, out), group.anchor);
  }
};

const Scatter kScatter;

}  // namespace

const Family& scatter_family = kScatter;

}  // namespace primset::schedule
