#include "codegen/schedule/legalize/reused_values.h"

#include <algorithm>
#include <vector>

#include "prims/graph/traits.h"

namespace primset::schedule {

using prims::Graph;
using prims::Node;
using prims::Prim;
using prims::ValueId;

namespace {

class ReuseAnalysis {
 public:
  explicit ReuseAnalysis(const Graph& g)
      : g_(g), costly_(g.value_count()), of_indices_(g.value_count()) {}

  void note(ValueId v);
  void note_repeated();

  std::unordered_set<ValueId> found;

 private:
  bool is_costly(const Node& n) const;
  bool is_made_of_indices(const Node& n) const;
  bool is_repeated(const Node& n) const;

  const Graph& g_;
  std::vector<bool> costly_;      // by value: an element takes more than arithmetic
  std::vector<bool> of_indices_;  // it is the same in every call: a table
};

// Views, padding and conversions stay inlined: the elementwise value behind them is what is stored.
void ReuseAnalysis::note(ValueId v) {
  for (prims::NodeId p; (p = g_.producer(v)) != Graph::kNoNode; v = g_.node(p).operands[0]) {
    const Prim prim = g_.node(p).prim;
    if (prims::is_view(prim) || prim == Prim::pad || prim == Prim::convert) continue;
    if (is_core_elementwise(prim)) found.insert(v);
    return;
  }
}

bool ReuseAnalysis::is_costly(const Node& n) const {
  if (is_transcendental(n.prim)) return true;
  return is_indexable(n.prim) && std::ranges::any_of(n.operands, [&](ValueId v) {
           return v != prims::kNoValue && costly_[v];
         });
}

bool ReuseAnalysis::is_made_of_indices(const Node& n) const {
  return prims::is_indexable(n.prim) && n.results.size() == 1 &&
         std::ranges::all_of(n.operands,
                             [&](ValueId v) { return v != prims::kNoValue && of_indices_[v]; });
}

// A costly number, or a table of such, of which a broadcast makes more elements.
bool ReuseAnalysis::is_repeated(const Node& n) const {
  if (n.prim != Prim::broadcast_in_dim || !costly_[n.operands[0]]) return false;
  const auto count = [&](ValueId v) { return prims::product(g_.type(v).shape); };
  const prims::SymInt before = count(n.operands[0]), after = count(n.results[0]);
  if (before.same(after)) return false;
  return of_indices_[n.operands[0]] || before.same(prims::SymInt(1));
}

// Nodes are in topological order, so one pass finds which values are costly.
void ReuseAnalysis::note_repeated() {
  for (prims::NodeId id = 0; id < g_.node_count(); ++id) {
    const Node& n = g_.node(id);
    if (is_costly(n)) {
      for (ValueId v : n.results) costly_[v] = true;
    }
    if (is_made_of_indices(n)) of_indices_[n.results[0]] = true;
    if (is_repeated(n)) note(n.operands[0]);
  }
}

}  // namespace

std::unordered_set<ValueId> reused_values(const Graph& g, std::span<const ValueId> reused) {
  ReuseAnalysis reuse(g);
  for (ValueId v : reused) reuse.note(v);
  reuse.note_repeated();
  return std::move(reuse.found);
}

}  // namespace primset::schedule
