#include "codegen/schedule/families/attention/attention_family.h"

#include <array>

#include "codegen/schedule/families/attention/attention_kernel.h"
#include "codegen/schedule/program/program_builder.h"

namespace primset::schedule {
namespace {

class Attention : public Family {
 public:
  std::string_view name() const override { return "attention"; }
  // What it cannot compute has been decomposed.
  std::optional<Cost> cost(const prims::Graph& g, prims::NodeId node,
                           const Machine&) const override {
    if (g.node(node).prim != prims::Prim::attention) return std::nullopt;
    return Cost{};
  }
  OperandUse operand(const prims::Graph&, const prims::Node&, size_t,
                     const Machine&) const override {
    return OperandUse::in_memory;
  }
  // Operands that the kernel cannot read where they are become dense.
  void build(ProgramBuilder& b, const FusionGroup& group) const override {
    const prims::Node& n = b.graph().node(group.anchor);
    std::array<Placement, 3> operands;
    for (size_t i = 0; i < operands.size(); ++i) {
      operands[i] = b.placement(n.operands[i]).value();
      if (attention_reads(b.graph(), n, i, operands[i])) continue;
      operands[i] = b.temp(n.operands[i]);
      b.copy_into(n.operands[i], operands[i]);
    }
    b.launch(attention_kernel(b.context("attention"), group.anchor, group.roots, operands),
             group.anchor);
  }
};

const Attention kAttention;

}  // namespace

const Family& attention_family = kAttention;

}  // namespace primset::schedule
