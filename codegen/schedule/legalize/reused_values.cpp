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

// A table of more operations than this an element is worth a kernel of its own on a CPU where so
// many elements are made of it, and each is used so many times.
constexpr int64_t kManyOperations = 4, kManyElements = 1 << 14, kManyTimes = 8;

class ReuseAnalysis {
 public:
  ReuseAnalysis(const Graph& g, const kir::TargetModel& target)
      : g_(g),
        target_(target),
        costly_(g.value_count()),
        of_indices_(g.value_count()),
        operations_(g.value_count()) {
    for (const prims::Input& in : g.inputs)
      of_indices_[in.value] = in.kind == prims::Input::Kind::scalar;
  }

  void note(ValueId v);
  void note_repeated();

  std::unordered_set<ValueId> found;

 private:
  DType dtype(ValueId v) const { return g_.type(v).dtype; }
  bool is_costly(const Node& n) const;
  bool is_made_of_indices(const Node& n) const;
  bool is_repeated(const Node& n) const;
  bool is_long_table(const Node& broadcast) const;
  void count_operations(const Node& n);

  const Graph& g_;
  const kir::TargetModel& target_;
  std::vector<bool> costly_;         // by value: an element takes more than arithmetic
  std::vector<bool> of_indices_;     // it is made of indices and of the call's numbers: a table
  std::vector<int64_t> operations_;  // of an element
};

// Views, padding and conversions stay inlined: the elementwise value behind them is what is stored,
// or what a conversion to fewer bits makes of it.
void ReuseAnalysis::note(ValueId v) {
  ValueId narrowed = prims::kNoValue;
  for (prims::NodeId p; (p = g_.producer(v)) != Graph::kNoNode; v = g_.node(p).operands[0]) {
    const Prim prim = g_.node(p).prim;
    if (prim == Prim::convert && bits(dtype(g_.node(p).operands[0])) > bits(dtype(v))) narrowed = v;
    if (prims::is_view(prim) || prim == Prim::pad || prim == Prim::convert) continue;
    if (is_core_elementwise(prim)) found.insert(narrowed == prims::kNoValue ? v : narrowed);
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
  const bool reduces = is_reduction(n.prim) && has_combiner(n.prim);
  return (prims::is_indexable(n.prim) || reduces) && n.results.size() == 1 &&
         std::ranges::all_of(n.operands,
                             [&](ValueId v) { return v != prims::kNoValue && of_indices_[v]; });
}

void ReuseAnalysis::count_operations(const Node& n) {
  int64_t sum = prims::is_elementwise(n.prim) && n.prim != Prim::constant ? 1 : 0;
  for (ValueId v : n.operands) {
    if (v != prims::kNoValue && prims::is_indexable(n.prim)) sum += operations_[v];
  }
  for (ValueId v : n.results) operations_[v] = std::min<int64_t>(sum, kManyOperations + 1);
}

bool ReuseAnalysis::is_long_table(const Node& broadcast) const {
  const ValueId table = broadcast.operands[0];
  if (target_.simt || !of_indices_[table] || operations_[table] <= kManyOperations) return false;
  const int64_t before = prims::product(g_.type(table).shape).hint();
  const int64_t after = prims::product(g_.type(broadcast.results[0]).shape).hint();
  return after >= kManyElements && before <= after / kManyTimes;
}

// A costly number, or a table of such, of which a broadcast makes more elements.
bool ReuseAnalysis::is_repeated(const Node& n) const {
  if (n.prim != Prim::broadcast_in_dim) return false;
  if (!costly_[n.operands[0]]) return is_long_table(n);
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
    count_operations(n);
    if (is_repeated(n)) note(n.operands[0]);
  }
}

}  // namespace

std::unordered_set<ValueId> reused_values(const Graph& g, std::span<const ValueId> reused,
                                          const kir::TargetModel& target) {
  ReuseAnalysis reuse(g, target);
  for (ValueId v : reused) reuse.note(v);
  reuse.note_repeated();
  return std::move(reuse.found);
}

}  // namespace primset::schedule
