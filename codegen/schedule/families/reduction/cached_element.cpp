#include "codegen/schedule/families/reduction/cached_element.h"

#include <algorithm>
#include <set>

#include "codegen/schedule/element/scalar_lowering.h"
#include "prims/graph/traits.h"

namespace primset::schedule {
namespace {

using prims::Graph;
using prims::NodeId;
using prims::ValueId;

class Search {
 public:
  Search(const ValueEnvironment& values, const ReduceRequest& request)
      : values_(values), g_(values.graph), request_(request) {}

  // Values of the row's own positions that `v` is computed from, `v` included.
  void pointwise(ValueId v, std::set<ValueId>& out) const {
    const NodeId p = g_.producer(v);
    if (p == Graph::kNoNode || values_.placement(v) || !is_core_elementwise(g_.node(p).prim))
      return;
    if (!out.insert(v).second) return;
    for (ValueId operand : g_.node(p).operands) pointwise(operand, out);
  }

  // Does `v` read memory of which `counts` holds, other than through `cached`?
  template <typename Counts>
  bool reads(ValueId v, ValueId cached, std::set<ValueId>& seen, const Counts& counts) const {
    if (v == cached || v == prims::kNoValue || !seen.insert(v).second) return false;
    if (values_.placement(v)) return counts(v);
    const NodeId p = g_.producer(v);
    if (p == Graph::kNoNode) return false;
    if (std::ranges::find(request_.reduces, p) != request_.reduces.end()) return false;
    return std::ranges::any_of(
        g_.node(p).operands, [&](ValueId operand) { return reads(operand, cached, seen, counts); });
  }

  // Does `root` itself need what is in its own memory, or another one what may be there?
  bool disturbs(const Root& root, ValueId cached) const {
    std::set<ValueId> seen;
    if (reads(root.value, cached, seen, [](ValueId) { return true; })) return true;
    const auto taken_over = [&](ValueId v) {
      return g_.producer(v) != Graph::kNoNode || values_.overwritten(v);
    };
    const auto needs = [&](const Root& other) {
      std::set<ValueId> walked;
      return other.value != root.value && reads(other.value, cached, walked, taken_over);
    };
    return std::ranges::any_of(request_.domain_roots, needs) ||
           std::ranges::any_of(request_.row_roots, needs);
  }

  // The costly value that `root` and the reductions' operands share, the latest in the graph.
  ValueId shared(ValueId root, const std::set<ValueId>& reduced) const {
    std::set<ValueId> made_of;
    pointwise(root, made_of);
    ValueId best = prims::kNoValue;
    for (ValueId v : made_of) {
      const bool fits = reduced.count(v) != 0 && is_transcendental(g_.node(g_.producer(v)).prim) &&
                        g_.type(v).dtype == g_.type(root).dtype;
      if (fits && (best == prims::kNoValue || v > best)) best = v;
    }
    return best;
  }

 private:
  const ValueEnvironment& values_;
  const Graph& g_;
  const ReduceRequest& request_;
};

}  // namespace

std::optional<CachedElement> cached_element(const ValueEnvironment& values,
                                            const ReduceRequest& request,
                                            std::span<const NodeId> last_stage) {
  const Search search(values, request);
  std::set<ValueId> reduced;
  for (NodeId n : last_stage) {
    for (ValueId operand : values.graph.node(n).operands) search.pointwise(operand, reduced);
  }
  for (const Root& root : request.domain_roots) {
    const ValueId cached = search.shared(root.value, reduced);
    if (cached == prims::kNoValue || cached == root.value) continue;
    if (!search.disturbs(root, cached)) return CachedElement{cached, root};
  }
  return std::nullopt;
}

}  // namespace primset::schedule
