#include "codegen/schedule/families/gather_scatter/scatter_family.h"

#include "codegen/schedule/families/gather_scatter/scatter_kernel.h"
#include "codegen/schedule/program/program_builder.h"
#include "prims/graph/traits.h"

namespace primset::schedule {
namespace {

// Is it more than the conversion of what is there?
bool takes_effort(const prims::Graph& g, prims::ValueId v) {
  const prims::NodeId producer = g.producer(v);
  if (producer == prims::Graph::kNoNode) return false;
  const prims::Node& n = g.node(producer);
  if (n.prim == prims::Prim::convert || n.prim == prims::Prim::reshape)
    return takes_effort(g, n.operands[0]);
  return prims::is_elementwise(n.prim);
}

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
  // What a CPU writes one by one is computed before that, in vectors and by all threads.
  OperandUse operand(const prims::Graph& g, const prims::Node& n, size_t index,
                     const Machine& machine) const override {
    if (index == 0) return OperandUse::copied;
    const bool one_by_one =
        !machine.target.simt && n.prim != prims::Prim::scatter && !writes_vectors(g, n);
    return one_by_one && takes_effort(g, n.operands[index]) ? OperandUse::in_memory
                                                            : OperandUse::inlined;
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
