// The kernel that sorts rows in a workgroup's memory and keeps one element of each: the k-th, or
// the median. A thread a row looks for it.
#include "codegen/schedule/families/sort/group_rows.h"

namespace primset::schedule {

using kir::Value;

namespace {

class GroupSelector {
 public:
  GroupSelector(const BuildContext& c, const GroupSort& sort, std::vector<LoopDim> rows)
      : sort_(sort),
        node_(c.values.graph.node(sort.node)),
        rows_(c, sort, std::move(rows)),
        f_(rows_.frame()),
        b_(f_.builder()),
        length_(rows_.narrow(f_.param(sort.length()))) {}

  BuiltKernel build() {
    return std::move(rows_).for_each_block([&] {
      b_.if_then(b_.slt(b_.local_id(0), rows_.row_count()), [&] { select(b_.local_id(0)); });
    });
  }

 private:
  void select(Value row);
  Value chosen_place(Value row);
  Value numbers(Value row);
  Value first_not_below(Value row, Value key, Value end);
  Value one_less(Value x) { return b_.sub(x, b_.i32(1)); }

  const GroupSort& sort_;
  const prims::Node& node_;
  GroupRows rows_;
  Frame& f_;
  kir::Builder& b_;
  const Value length_;
};

// The place in order of the first of the row's elements up to `end` whose key is not below this.
Value GroupSelector::first_not_below(Value row, Value key, Value end) {
  SortedRows& sorted = rows_.sorted();
  return b_.while_loop(
      {b_.i32(0), end}, [&](std::span<const Value> v) { return b_.slt(v[0], v[1]); },
      [&](std::span<const Value> v) {
        const Value middle = b_.lshr(b_.add(v[0], v[1]), b_.i32(1));
        const Value below = b_.ult(sorted.key(sorted.slot_of(row, middle)), key);
        return kir::Builder::Values{b_.select(below, b_.add(middle, b_.i32(1)), v[0]),
                                    b_.select(below, v[1], middle)};
      })[0];
}

// How many of the row's elements are not NaN.
Value GroupSelector::numbers(Value row) {
  if (!is_floating(sort_.key)) return length_;
  return first_not_below(row, rows_.sorted().keys().nan(), length_);
}

// Of an even number of elements the lower of both in the middle. The last one is NaN, if any is.
Value GroupSelector::chosen_place(Value row) {
  if (node_.prim == prims::Prim::kth_value)
    return one_less(rows_.narrow(f_.param(node_.attr<SymInt>("k"))));
  const Value count = numbers(row);
  const Value usable =
      node_.attr<bool>("ignore_nan") ? b_.slt(b_.i32(0), count) : b_.ieq(count, length_);
  return b_.select(usable, b_.lshr(one_less(count), b_.i32(1)), one_less(length_));
}

// Of equal elements that which stands first is first in order too.
void GroupSelector::select(Value row) {
  SortedRows& sorted = rows_.sorted();
  const Value place = chosen_place(row);
  const Value key = sorted.key(sorted.slot_of(row, place));
  const Value origin = sorted.origin(sorted.slot_of(row, first_not_below(row, key, place)));
  const Value value = rows_.load_key(row, origin);
  Indices at = rows_.at(row, origin);
  at.erase(at.begin() + static_cast<std::ptrdiff_t>(sort_.dim));
  for (const SortResult& result : sort_.results) {
    const DType type = result.number == 0 ? sort_key_bits(sort_.key) : DType::i64;
    const Value stored = result.number == 0 ? value : origin;
    f_.store(result.out.buffer, type, element_address(f_, result.out, at),
             {b_.int_resize(stored, register_scalar(type), false), {}});
  }
}

}  // namespace

BuiltKernel group_select_kernel(const BuildContext& c, const GroupSort& sort) {
  return with_merged_rows(sort, [&](std::vector<LoopDim> rows) {
    return GroupSelector(c, sort, std::move(rows)).build();
  });
}

}  // namespace primset::schedule
