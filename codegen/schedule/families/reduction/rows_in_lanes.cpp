// Rows that lie side by side in memory, as those of a transposed array: a workgroup takes several
// neighbours, which the lanes of its vectors hold. A thread has the elements that it has of one row
// otherwise, and the trees over them are the same, so every addition is where it was.
#include <algorithm>

#include "codegen/schedule/families/reduction/reduce_builder.h"
#include "codegen/schedule/loops/subgroup_exchange.h"
#include "codegen/schedule/loops/vectorization.h"

namespace primset::schedule {

using kir::Value;
using prims::NodeId;
using prims::SymInt;

// Does all that is read along the rows lie side by side across them?
bool ReduceBuilder::lies_across(const Analysis& seen) const {
  if (parallel_.empty() || !r_.domain_roots.empty()) return false;
  const size_t across = parallel_.back().dims.back();
  bool reads = false;
  for (const AccessRecord& a : seen.accesses) {
    const SymInt& along = a.address.coefficient(r_.dim);
    if (a.store || along.same(SymInt(0))) continue;
    if (!a.address.is_affine() || along.same(SymInt(1))) return false;
    if (!a.address.coefficient(across).same(SymInt(1))) return false;
    reads = true;
  }
  return reads;
}

// Bytes of one element's partial results, at most.
size_t ReduceBuilder::partial_bytes() {
  size_t most = 0;
  for (const std::vector<NodeId>& nodes : stages()) {
    size_t bytes = 0;
    for (NodeId n : nodes) {
      const Combiner c(emitter_, n);
      for (size_t k = 0; k < c.arity(); ++k) bytes += byte_size(c.dtype(k));
    }
    most = std::max(most, bytes);
  }
  return most;
}

// As many rows as a thread has registers for, where that leaves every multiprocessor its
// workgroups.
void ReduceBuilder::choose_row_lanes(const Analysis& seen) {
  if (!lies_across(seen)) return;
  const auto& tuning = frame_.tuning().reduction;
  const size_t bytes = partial_bytes() * kGroupLanes;
  const SymInt rows = extent(parallel_, 0, parallel_.size());
  const int64_t at_once = shape_ == ReduceShape::simt_group ? tuning.groups : slots();
  const int64_t blocks = c_.target.multiprocessors * at_once;
  uint16_t lanes = kMaxRowLanes;
  while (lanes >= kMinRowLanes && (bytes * lanes > static_cast<size_t>(tuning.register_bytes) ||
                                   SymInt(blocks * lanes) > rows))
    lanes /= 2;
  if (lanes < kMinRowLanes) return;
  row_lanes_ = lanes;
  Analysis vectors = seen;
  const size_t across = parallel_.back().dims.back();
  for (AccessRecord& a : vectors.accesses) {
    const bool side_by_side = a.address.coefficient(across).same(SymInt(1));
    a.lanes = side_by_side ? LaneAccess::contiguous : LaneAccess::strided;
  }
  std::vector<LoopDim> loops = reduced_;
  loops.insert(loops.end(), parallel_.begin(), parallel_.end());
  const Value rest = b().urem(frame_.param(parallel_.back().size), constant(lanes));
  rows_in_lanes_ =
      b().and_(vectors_align(frame_, vectors, loops, lanes), b().ieq(rest, constant(0)));
}

// A group's rows, side by side where they are aligned and else one after the other.
void ReduceBuilder::blocks_of_rows() {
  const SymInt rows = extent(parallel_, 0, parallel_.size());
  const SymInt blocks = prims::ceil_div(rows, SymInt(int64_t{slots()} * row_lanes_));
  frame_.step().groups = {prims::min(blocks, SymInt(c_.target.max_groups_x)), 1, 1};
  b().for_loop(index(b().group_id(0)), frame_.param(blocks), index(b().group_count(0)), {},
               [&](Value block, auto) {
                 const auto nothing = [&](auto body) {
                   return [block, body] {
                     body(block);
                     return kir::Builder::Values{};
                   };
                 };
                 b().if_else(rows_in_lanes_, nothing([&](Value v) { block_in_lanes(v); }),
                             nothing([&](Value v) { rows_one_by_one(v); }));
                 return kir::Builder::Values{};
               });
}

// Slot after slot of subgroups, since all threads of a workgroup go through as many rows.
void ReduceBuilder::rows_one_by_one(Value block) {
  if (shape_ == ReduceShape::simt_subgroup) {
    const Value first = b().mul(block, constant(row_lanes_));
    b().for_loop(constant(0), constant(row_lanes_), constant(1), {}, [&](Value k, auto) {
      const Value row = slot_row(b().mul(b().add(first, k), constant(slots())), 1);
      delinearize(frame_, row, parallel_, 0, parallel_.size());
      row_of_group();
      return kir::Builder::Values{};
    });
    return;
  }
  const Value first = b().mul(block, constant(row_lanes_));
  const Value all = frame_.param(extent(parallel_, 0, parallel_.size()));
  const Value end = b().add(first, constant(row_lanes_));
  b().for_loop(first, b().select(b().slt(end, all), end, all), constant(1), {},
               [&](Value row, auto) {
                 delinearize(frame_, row, parallel_, 0, parallel_.size());
                 row_of_group();
                 return kir::Builder::Values{};
               });
}

// The rows are a multiple of the block's, so that it is there as a whole or not at all.
void ReduceBuilder::block_in_lanes(Value block) {
  ElementEmitter::Scope scope(emitter_);
  Value first = b().mul(block, constant(int64_t{slots()} * row_lanes_));
  if (shape_ == ReduceShape::simt_subgroup) first = slot_row(first, row_lanes_);
  const uint16_t lanes = frame_.lanes();
  delinearize(frame_, first, parallel_, 0, parallel_.size());
  parallel_.back().lanes = true;
  reduced_[0].lanes = false;
  frame_.set_lanes(row_lanes_);
  across_ = true;
  const auto all_stages = stages();
  one_stage_ = all_stages.size() == 1;
  for (const std::vector<NodeId>& nodes : all_stages) stage_in_lanes(nodes);
  set_loops();
  wait_for_repeated_rows();
  b().if_then(stores_row(), [&] {
    ElementEmitter::Scope inner(emitter_);
    store_all(r_.row_roots, row_indices());
  });
  across_ = false;
  frame_.set_lanes(lanes);
  reduced_[0].lanes = true;
  parallel_.back().lanes = false;
}

void ReduceBuilder::stage_in_lanes(const std::vector<NodeId>& nodes) {
  std::vector<Combiner> combiners;
  for (NodeId n : nodes) combiners.emplace_back(emitter_, n);
  const std::vector<Value> acc = walk_neighbours(combiners, domain_indices());
  // Each row's partial results, which its threads combine.
  std::vector<Combiner> each;
  std::vector<std::vector<ElementValue>> all;
  bool exchange = true;
  for (uint16_t row = 0; row < row_lanes_; ++row) {
    size_t used = 0;
    for (Combiner& c : combiners) {
      std::vector<Value> own;
      for (size_t k = 0; k < c.registers(); ++k) own.push_back(b().extract(acc[used++], row));
      exchange = exchange && shape_ == ReduceShape::simt_group && exchanges(b(), threads_, own);
      each.push_back(c);
      all.push_back(c.unflatten(own));
    }
  }
  if (exchange) combine_subgroups(each, all);
  for (size_t i = 0; i < each.size() && !exchange; ++i) {
    if (shape_ == ReduceShape::simt_subgroup)
      combine_shuffled(each[i], all[i], row_threads());
    else
      combine_threads(each[i], all[i]);
  }
  for (size_t n = 0; n < combiners.size(); ++n) bind_in_lanes(combiners[n], n, all);
}

// Result n of every row, of which there is one in every `combiners` parts of `all`.
void ReduceBuilder::bind_in_lanes(Combiner& c, size_t n,
                                  const std::vector<std::vector<ElementValue>>& all) {
  const size_t combiners = all.size() / row_lanes_;
  const auto in_lanes = [&](size_t k, Value ElementValue::* part) {
    Value v = all[n][k].*part;
    if (!v.valid()) return v;
    v = b().splat(v, row_lanes_);
    for (uint16_t row = 1; row < row_lanes_; ++row)
      v = b().insert(v, all[row * combiners + n][k].*part, row);
    return v;
  };
  for (size_t k = 0; k < c.arity(); ++k) {
    emitter_.bind(c.result(k), row_indices(),
                  {in_lanes(k, &ElementValue::re), in_lanes(k, &ElementValue::im)});
  }
}

// The partial results of a thread's neighbours, joined as those of one row's lanes are.
std::vector<Value> ReduceBuilder::walk_neighbours(std::vector<Combiner>& combiners,
                                                  const Indices& at) {
  const Value n = frame_.param(length_);
  const std::vector<Value> identity = identities(combiners);
  const size_t registers = identity.size();
  std::vector<Value> begun;
  for (uint16_t k = 0; k < kGroupLanes; ++k) std::ranges::copy(identity, std::back_inserter(begun));
  const auto neighbours = [&](Value i, std::span<const Value> carried) {
    std::vector<Value> next;
    for (uint16_t k = 0; k < kGroupLanes; ++k) {
      ElementEmitter::Scope scope(emitter_);
      const Value on = b().add(i, constant(k)), inside = b().slt(on, n);
      inside_ = b().splat(inside, row_lanes_);
      reduced_[0].base = b().select(inside, on, constant(0));
      set_loops();
      const auto one = accumulate(combiners, at, carried.subspan(k * registers, registers));
      next.insert(next.end(), one.begin(), one.end());
    }
    return next;
  };
  std::vector<Value> parts =
      b().for_loop(b().mul(row_thread(), constant(kGroupLanes)), n,
                   constant(int64_t{row_threads()} * kGroupLanes), std::move(begun), neighbours);
  inside_ = {};
  combine_halves(combiners, parts);
  return parts;
}

}  // namespace primset::schedule
