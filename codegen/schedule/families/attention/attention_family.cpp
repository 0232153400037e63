#include "codegen/schedule/families/attention/attention_family.h"

#include <algorithm>
#include <array>

#include "codegen/schedule/families/attention/attention_kernel.h"
#include "codegen/schedule/program/program_builder.h"

namespace primset::schedule {
namespace {

// Two products over queries, keys and a head each; operands and result move once.
Cost attention_cost(const prims::Graph& g, const prims::Node& n) {
  Cost c;
  const auto elements = [&](prims::ValueId v) {
    return static_cast<double>(std::max<int64_t>(1, prims::product(g.type(v).shape).hint()));
  };
  for (size_t i = 0; i < 3; ++i)
    c.bytes += elements(n.operands[i]) * bits(g.type(n.operands[i]).dtype) / 8;
  c.bytes += elements(n.results[0]) * bits(g.type(n.results[0]).dtype) / 8;
  const auto keys = static_cast<double>(g.type(n.operands[1]).shape.end()[-2].hint());
  c.operations = 2 * keys * (elements(n.operands[0]) + elements(n.results[0]));
  return c;
}

class Attention : public Family {
 public:
  std::string_view name() const override { return "attention"; }
  // What it cannot compute has been decomposed.
  std::optional<Cost> cost(const prims::Graph& g, prims::NodeId node,
                           const Machine&) const override {
    if (g.node(node).prim != prims::Prim::attention) return std::nullopt;
    return attention_cost(g, g.node(node));
  }
  bool is_legal_derived(const prims::Graph& g, prims::NodeId node,
                        const Machine& machine) const override {
    const prims::Node& n = g.node(node);
    return n.prim == prims::Prim::attention && fuses_attention(g, n, machine.target);
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
