#include <algorithm>

#include "codegen/schedule/families/reduction/reduce_kernel.h"
#include "codegen/schedule/program/program_builder.h"
#include "codegen/schedule/tuning/summation_order.h"

namespace primset::schedule {
namespace {

// Rows of numbers that a CPU has wider ones for, and those that one workgroup each of a SIMT device
// reduces: legalisation writes their variance as sums.
bool sums_variance(const prims::Graph& g, const prims::Node& n, const kir::TargetModel& target) {
  const prims::ValueType& x = g.type(n.operands[0]);
  const auto& dims = n.attr<std::vector<int64_t>>("dims");
  if (is_complex(x.dtype) || dims.empty()) return false;
  if (!target.simt) {
    if (!target.fast_f64() || x.dtype == DType::f64) return false;
    return std::ranges::none_of(x.shape, [](const SymInt& n) { return n == SymInt(0); });
  }
  const auto first = static_cast<int64_t>(x.shape.size() - dims.size());
  if (std::ranges::any_of(dims, [&](int64_t d) { return d < first; })) return false;
  SymInt length = 1;
  for (int64_t d : dims) length *= x.shape[static_cast<size_t>(d)];
  return length > SymInt(0) && !(length > SymInt(kReductionChunk));
}

// Reductions over the same rows with the elementwise values that use them; the planner forms these
// groups.
class Reduction : public Family {
 public:
  std::string_view name() const override { return "reduction"; }
  std::optional<Cost> cost(const prims::Graph&, prims::NodeId, const Machine&) const override {
    return std::nullopt;
  }
  bool is_legal_derived(const prims::Graph& g, prims::NodeId node,
                        const Machine& machine) const override {
    const prims::Node& n = g.node(node);
    return n.prim == prims::Prim::var_mean && sums_variance(g, n, machine.target);
  }
  void build(ProgramBuilder& b, const FusionGroup& group) const override {
    ReduceRequest request{group.domain, group.dim, group.reduces, {}, {}};
    for (const Root& r : group.roots) {
      const bool wide = b.graph().type(r.value).rank() == group.domain.size();
      (wide ? request.domain_roots : request.row_roots).push_back(r);
    }
    b.launch(reduce_kernel(b.context("reduce"), request), request.reduces.back());
  }
};

const Reduction kReduction;

}  // namespace

const Family& reduction_family = kReduction;

}  // namespace primset::schedule
