#include "codegen/schedule/families/sort/group_rows.h"

#include <algorithm>
#include <utility>

#include "codegen/schedule/families/sort/radix_tiles.h"
#include "codegen/schedule/loops/loops.h"

namespace primset::schedule {

using kir::Value;

GroupRows::GroupRows(const BuildContext& c, const GroupSort& sort, std::vector<LoopDim> rows)
    : sort_(sort),
      loops_(std::move(rows)),
      indices_(identity_indices(sort.shape)),
      f_(c.name, c.machine, c.index32, sort.shape),
      b_(f_.builder()),
      sorted_(f_, sort) {
  f_.set_error_buffer(c.errors);
  b_.set_group_size(sort.tile.threads);
  const auto resident = static_cast<uint32_t>(c.machine.tuning.sort.resident_threads);
  b_.set_min_groups_per_multiprocessor(std::max(1u, resident / sort.tile.threads));
}

BuiltKernel GroupRows::for_each_block(const std::function<void()>& body) && {
  // Of rows without elements, whose length only the run knows, nothing is read.
  const SymInt rows = extent(loops_, 0, loops_.size()) * prims::min(sort_.length(), SymInt(1));
  for_each_by_groups(f_, prims::ceil_div(rows, sort_.group_rows()), [&](Value block) {
    first_row_ = b_.mul(block, f_.param(sort_.group_rows()));
    const Value left = b_.sub(f_.param(rows), first_row_), most = f_.param(sort_.group_rows());
    row_count_ = narrow(b_.select(b_.slt(left, most), left, most));
    put_keys();
    b_.barrier();
    sorted_.sort();
    b_.barrier();
    body();
    b_.barrier();  // the memory is used again
  });
  return built(std::move(f_));
}

GroupRows::Walk GroupRows::walk(const Placement& p) {
  const bool along = p.strides[sort_.dim].same(SymInt(1));
  const SymInt side = along ? sort_.row_slots() : sort_.group_rows();
  const Value size = narrow(f_.param(side)), threads = b_.i32(sort_.tile.threads);
  const Value length = narrow(f_.param(sort_.length()));
  Value slow = b_.udiv(b_.local_id(0), size), fast = b_.sub(b_.local_id(0), b_.mul(slow, size));
  const Value slow_step = b_.udiv(threads, size),
              fast_step = b_.sub(threads, b_.mul(slow_step, size));
  Walk out;
  for (uint32_t k = 0; k < sort_.tile.items; ++k) {
    out.row.push_back(along ? slow : fast);
    out.place.push_back(along ? fast : slow);
    out.inside.push_back(b_.and_(b_.slt(out.row[k], row_count_), b_.slt(out.place[k], length)));
    const Value next = b_.add(fast, fast_step);
    const Value over = b_.sle(size, next);
    fast = b_.select(over, b_.sub(next, size), next);
    slow = b_.add(b_.add(slow, slow_step), b_.select(over, b_.i32(1), b_.i32(0)));
  }
  return out;
}

std::pair<Value, Value> GroupRows::safe(const Walk& w, uint32_t k) {
  const Value zero = b_.i32(0);
  return {b_.select(w.inside[k], w.row[k], zero), b_.select(w.inside[k], w.place[k], zero)};
}

Indices GroupRows::at(Value row, Value place) {
  delinearize(f_, b_.add(first_row_, f_.index(row)), loops_, 0, loops_.size());
  f_.set_loops(loops_);
  Indices out = indices_;
  out[sort_.dim] = affine_index(computed(f_.index(place)));
  return out;
}

Value GroupRows::load_key(Value row, Value place) {
  const Affine address = element_address(f_, sort_.keys, at(row, place));
  const ElementValue x = f_.load(sort_.keys.buffer, sort_key_bits(sort_.key), address);
  return b_.zext(x.re, sorted_.keys().word().scalar);
}

std::vector<Value> GroupRows::load_keys(const Walk& w) {
  std::vector<Value> keys;
  for (uint32_t k = 0; k < sort_.tile.items; ++k) {
    const auto [row, place] = safe(w, k);
    keys.push_back(load_key(row, place));
  }
  return keys;
}

// Every slot gets a word; all elements are loaded before the first one is stored.
void GroupRows::put_keys() {
  const Walk w = walk(sort_.keys);
  const std::vector<Value> keys = load_keys(w);
  const Value row_slots = narrow(f_.param(sort_.row_slots()));
  for (uint32_t k = 0; k < sort_.tile.items; ++k) {
    // A walk across rows leaves them at their end, and fills what is left behind the last one.
    const Value number = b_.add(b_.local_id(0), b_.i32(int64_t{k} * sort_.tile.threads));
    const Value slot =
        b_.select(b_.slt(w.place[k], row_slots), sorted_.slot_of(w.row[k], w.place[k]), number);
    const Value ordered = sorted_.keys().ordered(keys[k]);
    sorted_.put(slot, b_.select(w.inside[k], ordered, sorted_.after_all()));
  }
}

BuiltKernel with_merged_rows(const GroupSort& sort,
                             const std::function<BuiltKernel(std::vector<LoopDim>)>& build) {
  std::vector<size_t> order;
  for (size_t d = 0; d < sort.shape.size(); ++d)
    if (d != sort.dim) order.push_back(d);
  const std::vector<LoopDim> separate = separate_loops(sort.shape, order);
  BuiltKernel first = build(separate);
  const std::vector<LoopDim> merged = merge_loops(sort.shape, separate, first.analysis);
  return merged.size() == separate.size() ? std::move(first) : build(merged);
}

}  // namespace primset::schedule
