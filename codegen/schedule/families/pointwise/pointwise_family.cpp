#include <algorithm>

#include "codegen/schedule/families/pointwise/pointwise_kernel.h"
#include "codegen/schedule/program/program_builder.h"

namespace primset::schedule {
namespace {

StridedTensor tensor_at(const prims::Graph& g, prims::ValueId v, const Placement& p) {
  return {p.buffer, g.type(v).dtype, g.type(v).shape, p.strides, p.offset};
}

// All that it does is to put values that are in memory elsewhere.
bool is_copy(const ProgramBuilder& b, const FusionGroup& group) {
  return group.checks.empty() && std::ranges::all_of(group.roots, [&](const Root& r) {
           return b.placement(r.value).has_value();
         });
}

void copy(ProgramBuilder& b, const FusionGroup& group) {
  for (const Root& r : group.roots) {
    b.append({StridedCopyStep{tensor_at(b.graph(), r.value, *b.placement(r.value)),
                              tensor_at(b.graph(), r.value, r.out)}});
  }
}

// Groups of elementwise primitives, views and gathers; the planner forms them.
class Pointwise : public Family {
 public:
  std::string_view name() const override { return "pointwise"; }
  std::optional<Cost> cost(const prims::Graph&, prims::NodeId, const Machine&) const override {
    return std::nullopt;
  }
  void build(ProgramBuilder& b, const FusionGroup& group) const override {
    if (!b.options().kernels && is_copy(b, group)) return copy(b, group);
    const prims::NodeId node =
        group.roots.empty() ? group.checks[0] : b.graph().producer(group.roots[0].value);
    b.launch(pointwise_kernel(b.context("pointwise"), group.domain, group.roots, group.checks),
             node == prims::Graph::kNoNode ? 0 : node);
  }
};

const Pointwise kPointwise;

}  // namespace

const Family& pointwise_family = kPointwise;

}  // namespace primset::schedule
