// Register-resident rows: a workgroup, lanes of a subgroup, or a thread, loads each element of its
// row once, keeps it in registers, and uses it in every stage of the reduction and for the results.
// PyTorch calls this a persistent reduction (docs/decisions/register_resident_rows.md). The loop
// along the row is unrolled.
#include "codegen/schedule/families/reduction/reduce_builder.h"

#include <algorithm>

#include "codegen/schedule/element/scalar_lowering.h"
#include "prims/graph/traits.h"

namespace primset::schedule {

using kir::Value;
using prims::NodeId;
using prims::SymInt;
using prims::ValueId;

// The order of additions is that of walk_row(). The identity is combined in the end (stage()), so
// that the first iteration adds nothing.
std::vector<Value> ReduceBuilder::walk_resident(
    const std::function<std::vector<Value>(std::span<const Value>)>& body) {
  std::vector<Value> carried;
  for (uint32_t iteration = 0; iteration < iterations_; ++iteration)
    for_iteration(iteration, [&] { carried = body(carried); });
  return carried;
}

// Runs `body` at the thread's elements of an iteration. A load that an earlier call made there is
// forwarded from its registers. Behind the row's end the addresses are those of its beginning, so
// that no load waits for a branch.
void ReduceBuilder::for_iteration(uint32_t iteration, const std::function<void()>& body) {
  ElementEmitter::Scope scope(emitter_);
  const kir::BlockId block = b().block();
  const Value at = iteration_position(iteration);
  inside_ = {};
  reduced_[0].base = at;
  if (!exact_) {
    const Value inside = b().slt(at, frame_.param(length_));
    inside_ = b().splat(inside, frame_.lanes());
    reduced_[0].base = b().select(inside, at, constant(0));
  }
  set_loops();
  frame_.set_forward_load([&](const AccessRecord& a) { return row_.find(iteration, a); });
  frame_.set_on_load([&](const AccessRecord& a, const std::vector<Value>& parts) {
    // Not what is read under a condition, or in a loop.
    if (b().block() == block && !frame_.mask().valid()) row_.keep(iteration, a, parts);
  });
  body();
  frame_.set_forward_load({});
  frame_.set_on_load({});
}

Value ReduceBuilder::iteration_position(uint32_t iteration) {
  if (shape_ == ReduceShape::simt_lanes) return constant(int64_t{iteration} * frame_.lanes());
  const Value thread = b().add(row_thread(), constant(int64_t{iteration} * row_threads()));
  return b().mul(thread, constant(frame_.lanes()));
}

// All results are computed before the first is stored: an output may be an input's memory.
void ReduceBuilder::store_resident() {
  std::vector<std::vector<ElementValue>> results(iterations_);
  for (uint32_t iteration = 0; iteration < iterations_; ++iteration) {
    for_iteration(iteration, [&] {
      for (const Root& root : r_.domain_roots)
        results[iteration].push_back(emitter_.emit(root.value, domain_indices()));
    });
  }
  for (uint32_t iteration = 0; iteration < iterations_; ++iteration) {
    const Value at = iteration_position(iteration);
    reduced_[0].base = at;
    set_loops();
    const auto store_all = [&] {
      for (size_t k = 0; k < r_.domain_roots.size(); ++k)
        store(results[iteration][k], r_.domain_roots[k], domain_indices());
    };
    if (exact_)
      store_all();
    else
      b().if_then(b().slt(at, frame_.param(length_)), store_all);
  }
}

// Issues all loads of the row first: they are in flight while the row's invariants are computed.
void ReduceBuilder::hoist_row_loads(std::span<const NodeId> reduces) {
  for (uint32_t iteration = 0; iteration < iterations_; ++iteration) {
    for_iteration(iteration, [&] {
      std::set<ValueId> seen;
      const auto keep = [&](const Placement& p) {
        if (evict_last_) b().evict_last(frame_.buffer(p.buffer, true, false));
      };
      for (NodeId n : reduces)
        for (ValueId v : c_.values.graph.node(n).operands)
          emitter_.emit_loads(v, domain_indices(), seen, keep);
    });
  }
}

// Loop-invariant code motion: what all elements of a row share is computed once, before the loop
// along the row.
void ReduceBuilder::hoist_invariants(ValueId v, std::set<ValueId>& seen) {
  const prims::Graph& g = c_.values.graph;
  const NodeId p = v == prims::kNoValue ? prims::Graph::kNoNode : g.producer(v);
  if (p == prims::Graph::kNoNode || c_.values.placement(v) != nullptr || !seen.insert(v).second)
    return;
  const prims::Node& n = g.node(p);
  if (is_core_elementwise(n.prim)) {
    for (ValueId operand : n.operands) hoist_invariants(operand, seen);
  } else if (n.prim == prims::Prim::broadcast_in_dim) {
    const auto& dims = n.attr<std::vector<int64_t>>("dims");
    const auto along = std::ranges::find(dims, static_cast<int64_t>(r_.dim)) - dims.begin();
    const SymInts& shape = g.type(n.operands[0]).shape;
    const auto d = static_cast<size_t>(along);
    if (d == dims.size() || shape[d].same(SymInt(1))) emitter_.emit_viewed(n, domain_indices());
  }
}

void ReduceBuilder::hoist_invariants(std::span<const ValueId> values) {
  std::set<ValueId> seen;
  for (ValueId v : values) hoist_invariants(v, seen);
}

// Loop versioning: rows of whole, aligned vectors are register-resident, others are read by each
// stage.
void ReduceBuilder::row_versions() {
  const auto row = [&](bool resident) {
    return [this, resident] {
      resident_ = resident;
      row_ = {};
      one_row();
      resident_ = false;
      return kir::Builder::Values{};
    };
  };
  b().if_else(full_vectors_, row(true), row(false));
}

// Is some element read more than once, and do a thread's elements fit the registers?
bool ReduceBuilder::can_be_resident(const Analysis& seen) const {
  size_t bytes = 0;
  const auto& all = seen.accesses;
  for (auto a = all.begin(); a != all.end(); ++a) {
    const auto is_a = [&](const AccessRecord& other) { return same_access(other, *a); };
    if (a->lanes == LaneAccess::same || a->store) continue;
    if (std::find_if(all.begin(), a, is_a) == a &&
        std::find_if(a + 1, all.end(), is_a) != all.end())
      bytes += byte_size(a->dtype);
  }
  return iterations_ > 0 && bytes > 0 &&
         bytes * lanes_ * iterations_ <=
             static_cast<size_t>(frame_.tuning().reduction.register_bytes);
}

}  // namespace primset::schedule
