// Rows that a workgroup holds in registers: each of its elements is read once.
#include "codegen/schedule/families/reduction/reduce_builder.h"

#include <algorithm>

#include "codegen/schedule/element/scalar_lowering.h"
#include "prims/graph/traits.h"

namespace primset::schedule {

using kir::Value;
using prims::NodeId;
using prims::SymInt;
using prims::ValueId;

// The order of additions is the loop's. What it begins with is combined in the end (stage).
std::vector<Value> ReduceBuilder::walk_held(
    const std::function<std::vector<Value>(std::span<const Value>)>& body) {
  std::vector<Value> carried;
  for (uint32_t trip = 0; trip < trips_; ++trip) on_trip(trip, [&] { carried = body(carried); });
  return carried;
}

// Takes the thread's neighbours of a trip along a held row; what it has read of them is at hand.
// What would lie behind the row's end is its beginning, so that no load waits for a branch.
void ReduceBuilder::on_trip(uint32_t trip, const std::function<void()>& body) {
  ElementEmitter::Scope scope(emitter_);
  const kir::BlockId block = b().block();
  const Value at = trip_position(trip);
  inside_ = {};
  reduced_[0].base = at;
  if (!exact_) {
    const Value inside = b().slt(at, frame_.param(length_));
    inside_ = b().splat(inside, frame_.lanes());
    reduced_[0].base = b().select(inside, at, constant(0));
  }
  set_loops();
  frame_.set_staged([&](const AccessRecord& a) { return row_.find(trip, a); });
  frame_.set_loaded([&](const AccessRecord& a, const std::vector<Value>& parts) {
    // Not what is read under a condition, or in a loop.
    if (b().block() == block && !frame_.mask().valid()) row_.keep(trip, a, parts);
  });
  body();
  frame_.set_staged({});
  frame_.set_loaded({});
}

Value ReduceBuilder::trip_position(uint32_t trip) {
  const Value thread = b().add(index(b().local_id(0)), constant(int64_t{trip} * threads_));
  return b().mul(thread, constant(frame_.lanes()));
}

// All of the results come before the first is stored, for the same reason.
void ReduceBuilder::store_held() {
  std::vector<std::vector<Elem>> results(trips_);
  for (uint32_t trip = 0; trip < trips_; ++trip) {
    on_trip(trip, [&] {
      for (const Root& root : r_.wide)
        results[trip].push_back(emitter_.emit(root.value, wide_indices()));
    });
  }
  for (uint32_t trip = 0; trip < trips_; ++trip) {
    const Value at = trip_position(trip);
    reduced_[0].base = at;
    set_loops();
    const auto store_all = [&] {
      for (size_t k = 0; k < r_.wide.size(); ++k)
        store(results[trip][k], r_.wide[k], wide_indices());
    };
    if (exact_)
      store_all();
    else
      b().if_then(b().slt(at, frame_.param(length_)), store_all);
  }
}

// Asks memory for what `v` is made of, element by element.
void ReduceBuilder::read_ahead(ValueId v, std::set<ValueId>& seen) {
  const prims::Graph& g = c_.values.graph;
  if (v == prims::kNoValue || !seen.insert(v).second) return;
  if (c_.values.placement(v) != nullptr) {
    if (g.type(v).shape.size() == r_.domain.size()) {
      emitter_.emit(v, wide_indices());
      if (keeps_) b().keep(frame_.buffer(c_.values.placement(v)->buffer, true, false));
    }
    return;
  }
  const NodeId p = g.producer(v);
  if (p == prims::Graph::kNoNode || !is_core_elementwise(g.node(p).prim)) return;
  for (ValueId operand : g.node(p).operands) read_ahead(operand, seen);
}

// Memory takes longer than what the row's elements share takes to be made.
void ReduceBuilder::read_row_ahead(std::span<const NodeId> reduces) {
  for (uint32_t trip = 0; trip < trips_; ++trip) {
    on_trip(trip, [&] {
      std::set<ValueId> seen;
      for (NodeId n : reduces)
        for (ValueId v : c_.values.graph.node(n).operands) read_ahead(v, seen);
    });
  }
}

// What all elements of a row share is made before the walk along it, and not with each of them.
void ReduceBuilder::make_common(ValueId v, std::set<ValueId>& seen) {
  const prims::Graph& g = c_.values.graph;
  const NodeId p = v == prims::kNoValue ? prims::Graph::kNoNode : g.producer(v);
  if (p == prims::Graph::kNoNode || c_.values.placement(v) != nullptr || !seen.insert(v).second)
    return;
  const prims::Node& n = g.node(p);
  if (is_core_elementwise(n.prim)) {
    for (ValueId operand : n.operands) make_common(operand, seen);
  } else if (n.prim == prims::Prim::broadcast_in_dim) {
    const auto& dims = n.attr<std::vector<int64_t>>("dims");
    const auto along = std::ranges::find(dims, static_cast<int64_t>(r_.dim)) - dims.begin();
    const SymInts& shape = g.type(n.operands[0]).shape;
    const auto d = static_cast<size_t>(along);
    if (d == dims.size() || shape[d].same(SymInt(1))) emitter_.emit_viewed(n, wide_indices());
  }
}

void ReduceBuilder::make_common_of(std::span<const ValueId> values) {
  std::set<ValueId> seen;
  for (ValueId v : values) make_common(v, seen);
}

// Rows whose vectors lie whole and on their boundaries are read once.
void ReduceBuilder::held_row() {
  const auto row = [&](bool held) {
    return [this, held] {
      held_ = held;
      row_ = {};
      one_row();
      held_ = false;
      return kir::Builder::Values{};
    };
  };
  b().if_else(whole_, row(true), row(false));
}

// Are elements read again, and few enough of them?
bool ReduceBuilder::holds_rows(const Analysis& seen) const {
  size_t bytes = 0;
  const auto& all = seen.accesses;
  for (auto a = all.begin(); a != all.end(); ++a) {
    const auto is_a = [&](const AccessRecord& other) { return same_access(other, *a); };
    if (a->lanes == LaneAccess::same || a->store) continue;
    if (std::find_if(all.begin(), a, is_a) == a &&
        std::find_if(a + 1, all.end(), is_a) != all.end())
      bytes += byte_size(a->dtype);
  }
  return trips_ > 0 && bytes > 0 &&
         bytes * kGroupLanes * trips_ <=
             static_cast<size_t>(frame_.tuning().reduction.register_bytes);
}

}  // namespace primset::schedule
