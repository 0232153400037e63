#include "codegen/schedule/families/reduction/reduce_kernel.h"
#include "codegen/schedule/program/program_builder.h"

namespace primset::schedule {
namespace {

// Groups of reductions over the same rows, with what is made of these rows; the planner forms them.
class Reduction : public Family {
 public:
  std::string_view name() const override { return "reduction"; }
  std::optional<Cost> cost(const prims::Graph&, prims::NodeId, const Machine&) const override {
    return std::nullopt;
  }
  void build(ProgramBuilder& b, const FusionGroup& group) const override {
    ReduceRequest request{group.domain, group.dim, group.reduces, {}, {}};
    for (const Root& r : group.roots) {
      const bool wide = b.graph().type(r.value).rank() == group.domain.size();
      (wide ? request.wide : request.rows).push_back(r);
    }
    b.launch(reduce_kernel(b.context("reduce"), request), request.reduces.back());
  }
};

const Reduction kReduction;

}  // namespace

const Family& reduction_family = kReduction;

}  // namespace primset::schedule
