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

  // Does `v` read memory other than through `cached`?
  bool reads(ValueId v, ValueId cached, std::set<ValueId>& seen) const {
    if (v == cached || v == prims::kNoValue || !seen.insert(v).second) return false;
    if (values_.placement(v)) return true;
    const NodeId p = g_.producer(v);
    if (p == Graph::kNoNode) return false;
    if (std::ranges::find(request_.reduces, p) != request_.reduces.end()) return false;
    return std::ranges::any_of(g_.node(p).operands,
                               [&](ValueId operand) { return reads(operand, cached, seen); });
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
    std::set<ValueId> seen;
    if (!search.reads(root.value, cached, seen)) return CachedElement{cached, root};
  }
  return std::nullopt;
}

}  // namespace primset::schedule
