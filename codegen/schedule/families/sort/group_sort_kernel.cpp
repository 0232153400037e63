// The kernel that sorts rows in a workgroup's memory.
#include <algorithm>

#include "codegen/schedule/families/sort/group_rows.h"

namespace primset::schedule {

using kir::Value;

namespace {

class GroupSorter {
 public:
  GroupSorter(const BuildContext& c, const GroupSort& sort, std::vector<LoopDim> rows)
      : sort_(sort),
        graph_(c.values.graph),
        rows_(c, sort, std::move(rows)),
        f_(rows_.frame()),
        b_(f_.builder()),
        emitter_(f_, c.values) {}

  BuiltKernel build() {
    const bool wants_keys =
        std::ranges::any_of(sort_.results, [](const auto& r) { return r.number == 0; });
    return std::move(rows_).for_each_block([&] {
      if (wants_keys) {
        stage_keys();
        b_.barrier();
      }
      for (const SortResult& result : sort_.results) store_result(result);
    });
  }

 private:
  void stage_keys();
  void store_result(const SortResult& result);

  const GroupSort& sort_;
  const prims::Graph& graph_;
  GroupRows rows_;
  Frame& f_;
  kir::Builder& b_;
  ElementEmitter emitter_;
};

// Keys are read again as they are in memory, and found by the place that each came from: what
// orders does not tell -0 from 0, nor one NaN from another.
void GroupSorter::stage_keys() {
  const GroupRows::Walk w = rows_.walk(sort_.keys);
  const std::vector<Value> keys = rows_.load_keys(w);
  SortedRows& sorted = rows_.sorted();
  for (uint32_t k = 0; k < sort_.tile.items; ++k)
    b_.if_then(w.inside[k], [&] { sorted.stage(sorted.slot_of(w.row[k], w.place[k]), keys[k]); });
}

void GroupSorter::store_result(const SortResult& result) {
  const prims::ValueId operand = graph_.node(sort_.node).operands[result.number];
  const bool is_key = result.number == 0;
  const DType type = is_key ? sort_key_bits(sort_.key) : graph_.type(operand).dtype;
  SortedRows& sorted = rows_.sorted();
  const GroupRows::Walk w = rows_.walk(result.out);
  std::vector<ElementValue> values;
  for (uint32_t k = 0; k < sort_.tile.items; ++k) {
    ElementEmitter::Scope scope(emitter_);  // each item has a row of its own
    const auto [row, place] = rows_.safe(w, k);
    const Value origin = sorted.origin(sorted.slot_of(row, place));
    if (is_key) {
      const Value key = sorted.staged(sorted.slot_of(row, origin));
      values.push_back({b_.int_resize(key, register_scalar(type), false), {}});
    } else {
      values.push_back(emitter_.emit(operand, rows_.at(row, origin)));
    }
  }
  for (uint32_t k = 0; k < sort_.tile.items; ++k) {
    b_.if_then(w.inside[k], [&] {
      const Affine address = element_address(f_, result.out, rows_.at(w.row[k], w.place[k]));
      f_.store(result.out.buffer, type, address, values[k]);
    });
  }
}

}  // namespace

BuiltKernel group_sort_kernel(const BuildContext& c, const GroupSort& sort) {
  return with_merged_rows(sort, [&](std::vector<LoopDim> rows) {
    return GroupSorter(c, sort, std::move(rows)).build();
  });
}

}  // namespace primset::schedule
