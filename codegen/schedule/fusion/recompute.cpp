#include "codegen/schedule/fusion/recompute.h"

#include <algorithm>

#include "prims/graph/traits.h"

namespace primset::schedule {

using prims::Node;
using prims::Prim;
using prims::SymInt;
using prims::ValueId;

namespace {

constexpr double kCap = 1e6;  // chains of doublings would overflow

}  // namespace

RecomputeEstimate::RecomputeEstimate(const prims::Graph& g, const Machine& machine)
    : g_(g), machine_(machine), elements_(g.value_count()) {
  for (ValueId v = 0; v < g.value_count(); ++v) elements_[v].bytes = size_in_memory(v);
  visit(g.body);
}

// Sizes of 1 are read once and stay in registers.
double RecomputeEstimate::size_in_memory(ValueId v) const {
  const prims::ValueType& t = g_.type(v);
  return prims::product(t.shape).same(SymInt(1)) ? 0 : bits(t.dtype) / 8.0;
}

void RecomputeEstimate::visit(const prims::Region& r) {
  for (prims::NodeId id : r.nodes) {
    const Node& n = g_.node(id);
    for (const prims::Region& nested : n.regions) visit(nested);
    if (!prims::is_indexable(n.prim)) continue;
    for (ValueId v : n.results) elements_[v] = of(n, v);
  }
}

RecomputeEstimate::Element RecomputeEstimate::of(const Node& n, ValueId result) const {
  Element e;
  e.operations = operations(n);
  for (ValueId v : n.operands) {
    if (v == prims::kNoValue) continue;
    // One element that is broadcast is computed once for all.
    const bool spread =
        n.prim == Prim::broadcast_in_dim && prims::product(g_.type(v).shape).same(SymInt(1));
    if (spread) continue;
    e.bytes += elements_[v].bytes * share_read(n, v);
    e.operations += elements_[v].operations;
  }
  return {std::min(e.bytes, kCap), std::min(e.operations, kCap)};
}

// Of a number a row, say, each is read once for all that a broadcast makes of it.
double RecomputeEstimate::share_read(const Node& n, ValueId operand) const {
  if (n.prim != Prim::broadcast_in_dim) return 1;
  const auto elements = [&](ValueId v) {
    return static_cast<double>(std::max<int64_t>(1, prims::product(g_.type(v).shape).hint()));
  };
  return std::min(1.0, elements(operand) / elements(n.results[0]));
}

double RecomputeEstimate::operations(const Node& n) const {
  if (prims::is_transcendental(n.prim)) return machine_.rates.transcendental;
  if (!n.regions.empty()) return static_cast<double>(n.regions[0].nodes.size());
  if (n.prim == Prim::window_scatter_add) return 8;
  return prims::is_elementwise(n.prim) ? 1 : 0;
}

bool RecomputeEstimate::favours_memory(ValueId v, double times, bool extra_result) const {
  const Element& e = elements_[v];
  const double size = size_in_memory(v);
  const auto elements =
      static_cast<double>(std::max<int64_t>(1, prims::product(g_.type(v).shape).hint()));
  const auto seconds = [&](double bytes, double operations, double launches) {
    return machine_.seconds({bytes * elements, operations * elements, launches});
  };
  const double weight = static_cast<double>(machine_.tuning.fusion.recompute_percent) / 100;
  const double again = weight * times * seconds(e.bytes, e.operations, 0);
  const double once = seconds(e.bytes, e.operations, extra_result ? 0 : 1) +
                      seconds(size * (times + (extra_result ? 0 : 1)), 0, 0);
  return once < again;
}

}  // namespace primset::schedule
