#include "codegen/schedule/families/concatenation/concatenation_family.h"

#include <algorithm>

#include "codegen/schedule/program/program_builder.h"
#include "codegen/schedule/tuning/concatenation_parts.h"

namespace primset::schedule {
namespace {

bool is_output(const prims::Graph& g, prims::ValueId v) {
  return std::ranges::any_of(g.outputs, [&](const prims::Output& out) { return out.value == v; });
}

// A kernel of each operand reads vectors, where one of all of them asks of each element which
// operand it is from. What nobody reads but the caller is in memory in any case.
bool writes_few_large_parts(const prims::Graph& g, const prims::Node& n,
                            const kir::TargetModel& target) {
  const SymInt large(target.simt ? kLargeResult : kLargeResultOfCpu);
  return n.operands.size() <= kFewParts && is_output(g, n.results[0]) &&
         prims::product(g.type(n.results[0]).shape) >= large;
}

class Concatenation : public Family {
 public:
  std::string_view name() const override { return "concatenation"; }
  std::optional<Cost> cost(const prims::Graph& g, prims::NodeId node,
                           const Machine& machine) const override {
    const prims::Node& n = g.node(node);
    if (n.prim != prims::Prim::concatenate) return std::nullopt;
    if (!is_copied_by_parts(machine.target, n.operands.size()) &&
        !writes_few_large_parts(g, n, machine.target))
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
