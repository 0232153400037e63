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
  // The longest first: what is written of each row beside it is in the cache by then.
  void build(ProgramBuilder& b, const FusionGroup& group) const override {
    const prims::Node& n = b.graph().node(group.anchor);
    const auto dim = static_cast<size_t>(n.attr<int64_t>("dim"));
    struct Part {
      int64_t length;
      size_t number;
      Placement place;
    };
    std::vector<Part> parts;
    Placement place = group.roots[0].out;
    for (const prims::ValueId operand : n.operands) {
      const SymInt& length = b.graph().type(operand).shape[dim];
      parts.push_back({length.hint(), parts.size(), place});
      place.offset += length * place.strides[dim];
    }
    std::ranges::sort(parts, {}, [](const Part& p) { return std::pair(-p.length, p.number); });
    for (const Part& part : parts) b.copy_into(n.operands[part.number], part.place);
  }
};

const Concatenation kConcatenation;

}  // namespace

const Family& concatenation_family = kConcatenation;

}  // namespace primset::schedule
