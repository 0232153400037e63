#include <algorithm>

#include "codegen/schedule/families/reduction/reduce_kernel.h"
#include "codegen/schedule/program/program_builder.h"
#include "codegen/schedule/tuning/held_row.h"

namespace primset::schedule {
namespace {

// An f64 that holds a number of at most 24 bits.
bool is_widened(const prims::Graph& g, prims::ValueId v) {
  const prims::NodeId p = g.producer(v);
  if (p == prims::Graph::kNoNode || g.node(p).prim != prims::Prim::convert) return false;
  const DType from = g.type(g.node(p).operands[0]).dtype;
  return g.type(v).dtype == DType::f64 && is_floating(from) && bits(from) <= 32;
}

// Numbers of which the device has wider ones at little cost, those that are wider already, and rows
// that one workgroup of a SIMT device holds: legalisation writes their variance as sums.
bool sums_variance(const prims::Graph& g, const prims::Node& n, const kir::TargetModel& target) {
  const prims::ValueType& x = g.type(n.operands[0]);
  const auto& dims = n.attr<std::vector<int64_t>>("dims");
  if (is_complex(x.dtype) || dims.empty()) return false;
  if (std::ranges::any_of(x.shape, [](const SymInt& n) { return n == SymInt(0); })) return false;
  if (is_widened(g, n.operands[0])) return true;
  if (target.simt && is_held_row(x.shape, dims)) return true;
  return target.f64 && x.dtype != DType::f64;
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
