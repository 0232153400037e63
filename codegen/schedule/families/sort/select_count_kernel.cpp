// The kernels of a radix select that read the rows.
#include <limits>

#include "codegen/schedule/families/sort/radix_select.h"
#include "codegen/schedule/families/sort/radix_tiles.h"

namespace primset::schedule {

using kir::kI32;
using kir::Value;

namespace {

RadixPass pass_at(const RadixSelect& select, int shift) {
  RadixPass pass;
  pass.shift = shift;
  pass.keys = select.keys;
  return pass;
}

constexpr int64_t kNone = std::numeric_limits<int32_t>::max();

// Walks over the tiles of all rows.
class SelectTiles {
 public:
  SelectTiles(const BuildContext& c, const RadixSelect& select, int shift)
      : select_(select),
        pass_(pass_at(select, shift)),
        tiles_(c, select.rows, pass_),
        f_(tiles_.frame()),
        b_(f_.builder()),
        items_{b_.local_id(0), b_.i32(select.rows.tile.threads), select.rows.tile.items} {}

  RadixTiles& tiles() { return tiles_; }
  Frame& frame() { return f_; }
  // Calls `body` with each of the thread's elements, as it orders, where it is there.
  void for_each_element(const std::function<void(Value ordered, uint32_t k)>& body) {
    const std::vector<Value> keys = tiles_.load_partial(
        items_, [&](Value number, int64_t more) { return tiles_.load_key(number, more); });
    for (uint32_t k = 0; k < items_.count; ++k)
      b_.if_then(tiles_.inside(items_, k), [&] { body(tiles_.ordered(keys[k]), k); });
  }
  // What has been found of the row's element.
  Value prefix() {
    return f_.load(select_.prefix, select_.prefix_dtype(), computed(tiles_.row())).re;
  }
  // The number in the row of the thread's k-th element, i32.
  Value number(uint32_t k) {
    const Value place = b_.add(items_.first, b_.mul(items_.step, b_.i32(k)));
    return b_.add(b_.int_resize(tiles_.first(), kir::Scalar::i32, true), place);
  }
  void add_to(BufferId counters, const Affine& at, Value count) {
    b_.atomic_rmw(kir::Rmw::add, f_.buffer(counters, true, true), f_.materialize(at), count, 4);
  }

 private:
  const RadixSelect& select_;
  const RadixPass pass_;
  RadixTiles tiles_;
  Frame& f_;
  kir::Builder& b_;
  const RadixTiles::Items items_;
};

}  // namespace

// Counters in workgroup memory, several copies of them as in the radix sort; then those that have
// counted something are added to the row's. Behind the digits is the number of NaN.
BuiltKernel select_count_kernel(const BuildContext& c, const RadixSelect& select, int shift,
                                bool first) {
  constexpr uint32_t kCopyStride = kDigits + 1;
  SelectTiles walk(c, select, shift);
  RadixTiles& tiles = walk.tiles();
  kir::Builder& b = walk.frame().builder();
  const uint32_t threads = select.rows.tile.threads;
  const auto copies = static_cast<uint32_t>(c.machine.tuning.sort.counter_copies);
  const uint32_t each = (copies * kCopyStride + threads - 1) / threads;
  const Value counters = b.group_alloc(kir::Scalar::i32, each * threads);
  const Value t = b.local_id(0), one = b.i32(1);
  const Value copy = b.mul(b.and_(t, b.i32(copies - 1)), b.i32(kCopyStride));
  const auto count = [&](Value number) {
    b.atomic_rmw(kir::Rmw::add, counters, b.add(copy, number), one, 4);
  };
  const bool has_nan = first && is_floating(select.rows.key);
  const auto counted = [&](Value number) {
    Value sum = b.i32(0);
    for (uint32_t k = 0; k < copies; ++k)
      sum = b.add(sum, b.load(kI32, counters, b.add(number, b.i32(k * kCopyStride)), 4));
    return sum;
  };
  tiles.for_each([&] {
    for (uint32_t k = 0; k < each; ++k)
      b.store(counters, b.add(t, b.i32(k * threads)), b.i32(0), 4);
    b.barrier();
    const Value prefix = first ? Value{} : walk.prefix();
    walk.for_each_element([&](Value ordered, uint32_t) {
      if (first) {
        count(tiles.digit(ordered));
        if (has_nan) b.if_then(b.ieq(ordered, tiles.nan()), [&] { count(b.i32(kDigits)); });
      } else {
        const Value differs = tiles.above_digit(b.xor_(ordered, prefix));
        b.if_then(b.ieq(differs, b.constant(b.type(differs), 0)),
                  [&] { count(tiles.digit(ordered)); });
      }
    });
    b.barrier();
    const auto flush = [&](Value sum, BufferId to, const Affine& at) {
      b.if_then(b.ine(sum, b.i32(0)), [&] { walk.add_to(to, at, sum); });
    };
    for (uint32_t digit = 0; digit < kDigits; digit += threads) {
      const Value own = b.add(t, b.i32(digit));
      flush(counted(own), select.rows.totals, tiles.total_of(own));
    }
    if (has_nan) {
      b.if_then(b.ieq(t, b.i32(0)),
                [&] { flush(counted(b.i32(kDigits)), select.nans, computed(tiles.row())); });
    }
    b.barrier();
  });
  return std::move(tiles).finish();
}

// Where the first element stands that orders as what was found.
BuiltKernel select_find_kernel(const BuildContext& c, const RadixSelect& select) {
  SelectTiles walk(c, select, 0);
  RadixTiles& tiles = walk.tiles();
  Frame& f = walk.frame();
  kir::Builder& b = f.builder();
  const Value least = b.group_alloc(kir::Scalar::i32, 1), zero = b.i32(0), none = b.i32(kNone);
  const Value is_first = b.ieq(b.local_id(0), zero);
  tiles.for_each([&] {
    b.if_then(is_first, [&] { b.store(least, zero, none, 4); });
    b.barrier();
    const Value prefix = walk.prefix();
    walk.for_each_element([&](Value ordered, uint32_t k) {
      b.if_then(b.ieq(ordered, prefix),
                [&] { b.atomic_rmw(kir::Rmw::min_s, least, zero, walk.number(k), 4); });
    });
    b.barrier();
    b.if_then(is_first, [&] {
      const Value found = b.load(kI32, least, zero, 4);
      b.if_then(b.slt(found, none), [&] {
        b.atomic_rmw(kir::Rmw::min_s, f.buffer(select.found, true, true), tiles.row(), found, 4);
      });
    });
    b.barrier();
  });
  return std::move(tiles).finish();
}

}  // namespace primset::schedule
