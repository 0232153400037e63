#include "codegen/schedule/families/pointwise/pointwise_kernel.h"
#include "codegen/schedule/program/program_builder.h"

namespace primset::schedule {
namespace {

// Groups of elementwise primitives, views and gathers; the planner forms them.
class Pointwise : public Family {
 public:
  std::string_view name() const override { return "pointwise"; }
  std::optional<Cost> cost(const prims::Graph&, prims::NodeId, const Machine&) const override {
    return std::nullopt;
  }
  void build(ProgramBuilder& b, const FusionGroup& group) const override {
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
