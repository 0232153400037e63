#include "codegen/schedule/families/concatenation/concatenation_family.h"

#include "codegen/schedule/program/program_builder.h"
#include "codegen/schedule/tuning/concatenation_parts.h"

namespace primset::schedule {
namespace {

class Concatenation : public Family {
 public:
  std::string_view name() const override { return "concatenation"; }
  std::optional<Cost> cost(const prims::Graph& g, prims::NodeId node,
                           const Machine& machine) const override {
    const prims::Node& n = g.node(node);
    if (n.prim != prims::Prim::concatenate ||
        !is_copied_by_parts(machine.target, n.operands.size()))
      return std::nullopt;
    return Cost{};
  }
  void build(ProgramBuilder& b, const FusionGroup& group) const override {
    const prims::Node& n = b.graph().node(group.anchor);
    const auto dim = static_cast<size_t>(n.attr<int64_t>("dim"));
    Placement place = group.roots[0].out;
    for (prims::ValueId operand : n.operands) {
      b.copy_into(operand, place);
      place.offset += b.graph().type(operand).shape[dim] * place.strides[dim];
    }
  }
};

const Concatenation kConcatenation;

}  // namespace

const Family& concatenation_family = kConcatenation;

}  // namespace primset::schedule
