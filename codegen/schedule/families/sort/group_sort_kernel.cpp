// The kernel that sorts rows in a workgroup's memory.
#include <algorithm>
#include <bit>

#include "codegen/schedule/element/view_placement.h"
#include "codegen/schedule/families/sort/group_sort.h"
#include "codegen/schedule/families/sort/radix_tiles.h"
#include "codegen/schedule/families/sort/sorted_rows.h"
#include "codegen/schedule/loops/loops.h"

namespace primset::schedule {

using kir::Value;

namespace {

// Workgroups of a power of two of threads whose memory suffices, the smallest one first.
std::vector<GroupTile> group_tiles(const Machine& machine, DType key) {
  const kir::TargetModel& target = machine.target;
  std::vector<GroupTile> out;
  if (!target.simt || (byte_size(key) == 8 && !target.i64)) return out;
  const auto& tuning = machine.tuning.sort;
  const uint32_t most = std::bit_floor(target.max_group_threads);
  const uint32_t memory = std::max(target.group_memory, target.large_group_memory);
  for (uint32_t threads = std::min(static_cast<uint32_t>(tuning.group_threads), most);
       threads <= most; threads *= 2) {
    const GroupTile tile{threads, static_cast<uint32_t>(tuning.group_items)};
    if (SortedRows::group_bytes(key, tile.elements()) > memory) break;
    out.push_back(tile);
  }
  return out;
}

}  // namespace

int64_t longest_grouped_row(const Machine& machine, DType key) {
  const std::vector<GroupTile> tiles = group_tiles(machine, key);
  return tiles.empty() ? 0 : tiles.back().elements();
}

// Of interleaved rows it takes a few, so that what lies side by side is used.
GroupTile group_tile(const Machine& machine, DType key, const SymInt& length, bool interleaved) {
  const std::vector<GroupTile> tiles = group_tiles(machine, key);
  const int64_t rows = interleaved ? machine.tuning.sort.interleaved_rows : 1;
  for (const GroupTile& tile : tiles)
    if (length <= SymInt(tile.elements() / rows)) return tile;
  return tiles.back();
}

namespace {

class GroupSorter {
 public:
  GroupSorter(const BuildContext& c, const GroupSort& sort, std::vector<LoopDim> rows)
      : sort_(sort),
        graph_(c.values.graph),
        loops_(std::move(rows)),
        indices_(identity_indices(sort.shape)),
        f_(c.name, c.machine, c.index32, sort.shape),
        b_(f_.builder()),
        emitter_(f_, c.values),
        rows_(f_, sort) {
    f_.set_error_buffer(c.errors);
    b_.set_group_size(sort.tile.threads);
  }

  BuiltKernel build() {
    const SymInt rows = extent(loops_, 0, loops_.size());
    const SymInt blocks = prims::ceil_div(rows, sort_.group_rows());
    for_each_by_groups(f_, blocks, [&](Value block) {
      first_row_ = b_.mul(block, f_.param(sort_.group_rows()));
      const Value left = b_.sub(f_.param(rows), first_row_), most = f_.param(sort_.group_rows());
      row_count_ = narrow(b_.select(b_.slt(left, most), left, most));
      sort_block();
      b_.barrier();  // the memory is used again
    });
    return built(std::move(f_));
  }

 private:
  // Some elements of the block; each thread takes as many as it has slots.
  struct Walk {
    std::vector<Value> row, place, inside;  // inside: i1, the element is there
  };
  Walk walk(const Placement& p);
  void sort_block();
  void load_keys();
  void stage_keys();
  void store_result(const GroupSort::Result& result);
  Value load_key(Value row, Value place);
  Indices at(Value row, Value place);
  Value narrow(Value index) { return b_.int_resize(index, kir::Scalar::i32, true); }

  const GroupSort& sort_;
  const prims::Graph& graph_;
  std::vector<LoopDim> loops_;  // over the rows
  const Indices indices_;
  Frame f_;
  kir::Builder& b_;
  ElementEmitter emitter_;
  SortedRows rows_;
  Value first_row_, row_count_;  // of the block
};

// Threads walk along rows where these are dense, else across them, so that neighbours access
// neighbours.
GroupSorter::Walk GroupSorter::walk(const Placement& p) {
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

// The indices of an element of the block; sets the loop variables to its row.
Indices GroupSorter::at(Value row, Value place) {
  delinearize(f_, b_.add(first_row_, f_.index(row)), loops_, 0, loops_.size());
  f_.set_loops(loops_);
  Indices out = indices_;
  out[sort_.dim] = affine_index(computed(f_.index(place)));
  return out;
}

Value GroupSorter::load_key(Value row, Value place) {
  const Affine address = element_address(f_, sort_.keys, at(row, place));
  const ElementValue x = f_.load(sort_.keys.buffer, sort_key_bits(sort_.key), address);
  return b_.zext(x.re, rows_.keys().word().scalar);
}

void GroupSorter::sort_block() {
  load_keys();
  b_.barrier();
  rows_.sort();
  b_.barrier();
  if (std::ranges::any_of(sort_.results, [](const auto& r) { return r.number == 0; })) {
    stage_keys();
    b_.barrier();
  }
  for (const GroupSort::Result& result : sort_.results) store_result(result);
}

// Every slot gets a word; all elements are loaded before the first one is stored.
void GroupSorter::load_keys() {
  const Walk w = walk(sort_.keys);
  std::vector<Value> keys;
  const Value zero = b_.i32(0);
  for (uint32_t k = 0; k < sort_.tile.items; ++k)
    keys.push_back(
        load_key(b_.select(w.inside[k], w.row[k], zero), b_.select(w.inside[k], w.place[k], zero)));
  for (uint32_t k = 0; k < sort_.tile.items; ++k) {
    // A walk across rows leaves them at their end, and fills what is left behind the last one.
    const Value number = b_.add(b_.local_id(0), b_.i32(int64_t{k} * sort_.tile.threads));
    const Value in_row = b_.slt(w.place[k], narrow(f_.param(sort_.row_slots())));
    const Value slot = b_.select(in_row, rows_.slot_of(w.row[k], w.place[k]), number);
    rows_.put(slot, b_.select(w.inside[k], rows_.keys().ordered(keys[k]), rows_.after_all()));
  }
}

// Keys are read again as they are in memory, and found by the place that each came from: what
// orders does not tell -0 from 0, nor one NaN from another.
void GroupSorter::stage_keys() {
  const Walk w = walk(sort_.keys);
  std::vector<Value> keys;
  const Value zero = b_.i32(0);
  for (uint32_t k = 0; k < sort_.tile.items; ++k)
    keys.push_back(
        load_key(b_.select(w.inside[k], w.row[k], zero), b_.select(w.inside[k], w.place[k], zero)));
  for (uint32_t k = 0; k < sort_.tile.items; ++k)
    b_.if_then(w.inside[k], [&] { rows_.stage(rows_.slot_of(w.row[k], w.place[k]), keys[k]); });
}

void GroupSorter::store_result(const GroupSort::Result& result) {
  const prims::ValueId operand = graph_.node(sort_.node).operands[result.number];
  const bool is_key = result.number == 0;
  const DType type = is_key ? sort_key_bits(sort_.key) : graph_.type(operand).dtype;
  const Walk w = walk(result.out);
  const Value zero = b_.i32(0);
  std::vector<ElementValue> values;
  ElementEmitter::Scope scope(emitter_);
  for (uint32_t k = 0; k < sort_.tile.items; ++k) {
    const Value row = b_.select(w.inside[k], w.row[k], zero);
    const Value slot = rows_.slot_of(row, b_.select(w.inside[k], w.place[k], zero));
    const Value origin = rows_.origin(slot);
    if (is_key) {
      const Value key = rows_.staged(rows_.slot_of(row, origin));
      values.push_back({b_.int_resize(key, register_scalar(type), false), {}});
    } else {
      values.push_back(emitter_.emit(operand, at(row, origin)));
    }
  }
  for (uint32_t k = 0; k < sort_.tile.items; ++k)
    b_.if_then(w.inside[k], [&] {
      const Affine address = element_address(f_, result.out, at(w.row[k], w.place[k]));
      f_.store(result.out.buffer, type, address, values[k]);
    });
}

}  // namespace

BuiltKernel group_sort_kernel(const BuildContext& c, const GroupSort& sort) {
  std::vector<size_t> order;
  for (size_t d = 0; d < sort.shape.size(); ++d)
    if (d != sort.dim) order.push_back(d);
  const std::vector<LoopDim> separate = separate_loops(sort.shape, order);
  BuiltKernel first = GroupSorter(c, sort, separate).build();
  const std::vector<LoopDim> merged = merge_loops(sort.shape, separate, first.analysis);
  return merged.size() == separate.size() ? std::move(first) : GroupSorter(c, sort, merged).build();
}

}  // namespace primset::schedule
