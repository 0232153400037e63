#include "codegen/schedule/families/concatenation/concatenation_family.h"

#include <algorithm>
#include <utility>

#include "codegen/schedule/families/concatenation/row_parts_kernel.h"
#include "codegen/schedule/program/program_builder.h"
#include "codegen/schedule/tuning/concatenation_parts.h"
#include "prims/graph/run_sizes.h"

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

size_t dim_of(const prims::Node& n) {
  return static_cast<size_t>(n.attr<int64_t>("dim"));
}

// Each operand and where in `out` it goes. The longest comes first: what is written of each row
// beside it is in the cache by then.
std::vector<Root> parts_of(const ProgramBuilder& b, const prims::Node& n, const Placement& out) {
  const size_t dim = dim_of(n);
  struct Part {
    int64_t length;
    size_t number;
    Placement place;
  };
  std::vector<Part> parts;
  Placement place = out;
  for (const prims::ValueId operand : n.operands) {
    const SymInt& length = b.graph().type(operand).shape[dim];
    parts.push_back({length.hint(), parts.size(), place});
    place.offset += length * place.strides[dim];
  }
  std::ranges::sort(parts, {}, [](const Part& p) { return std::pair(-p.length, p.number); });
  std::vector<Root> roots;
  for (const Part& p : parts) roots.push_back({n.operands[p.number], p.place});
  return roots;
}

// CPU: few parts of rows that a group has several of. Guards say so.
bool fills_short_rows(const ProgramBuilder& b, const prims::Node& n,
                      const std::vector<Root>& parts) {
  constexpr size_t kMostParts = 8;
  constexpr int64_t kLongRow = 4096;
  const prims::Graph& g = b.graph();
  const size_t dim = dim_of(n);
  const SymInts& shape = g.type(n.results[0]).shape;
  const auto is_there = [&](const Root& part) { return b.is_at(part.value, part.out); };
  return !b.machine().target.simt && b.options().kernels && parts.size() <= kMostParts &&
         shape.size() > 1 && parts[0].out.strides[dim].same(SymInt(1)) &&
         std::ranges::none_of(parts, is_there) && !prims::depends_on_run(g, shape[dim]) &&
         shape[dim] < SymInt(kLongRow);
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
    const std::vector<Root> parts = parts_of(b, n, group.roots[0].out);
    if (fills_short_rows(b, n, parts)) {
      const SymInts& shape = b.graph().type(n.results[0]).shape;
      if (auto kernel = row_parts_kernel(b.context("pointwise"), shape, dim_of(n), parts))
        return b.launch(std::move(*kernel), group.anchor);
    }
    for (const Root& part : parts) b.copy_into(part.value, part.out);
  }
};

const Concatenation kConcatenation;

}  // namespace

const Family& concatenation_family = kConcatenation;

}  // namespace primset::schedule
