// The first two steps of a pass of a radix sort.
#include "codegen/schedule/families/scan/group_scan.h"
#include "codegen/schedule/families/sort/radix_tiles.h"
#include "codegen/schedule/loops/loops.h"

namespace primset::schedule {

using kir::Value;

namespace {

// Threads that count in one array wait for each other where they meet the same digit. So there are
// several copies of it, with starts in different banks.
constexpr uint32_t kCopyStride = kDigits + 1;

}  // namespace

// A histogram of the digits of each tile: atomic additions to counters in workgroup memory, of
// which there are several copies; then each digit's copies are added up and stored.
BuiltKernel radix_count_kernel(const BuildContext& c, const RadixSort& sort,
                               const RadixPass& pass) {
  RadixTiles tiles(c, sort, pass);
  kir::Builder& b = tiles.frame().builder();
  const uint32_t threads = sort.tile.threads;
  const auto copies = static_cast<uint32_t>(c.machine.tuning.sort.counter_copies);
  const uint32_t counters_per_thread = (copies * kCopyStride + threads - 1) / threads;
  const Value counters = b.group_alloc(kir::Scalar::i32, counters_per_thread * threads);
  const Value t = b.local_id(0), one = b.i32(1);
  const Value copy = b.mul(b.and_(t, b.i32(copies - 1)), b.i32(kCopyStride));
  tiles.for_each([&] {
    for (uint32_t k = 0; k < counters_per_thread; ++k)
      b.store(counters, b.add(t, b.i32(k * threads)), b.i32(0), 4);
    b.barrier();
    const RadixTiles::Items items{t, b.i32(threads), sort.tile.items};
    const auto load = [&](Value number, int64_t more) { return tiles.load_key(number, more); };
    const auto count = [&](Value key) {
      const Value digit = tiles.digit(tiles.ordered(key));
      b.atomic_rmw(kir::Rmw::add, counters, b.add(copy, digit), one, 4);
    };
    const auto full = [&] {
      for (Value key : tiles.load_full(items, load)) count(key);
      return std::vector<Value>{};
    };
    const auto part = [&] {
      const std::vector<Value> keys = tiles.load_partial(items, load);
      for (uint32_t k = 0; k < items.count; ++k)
        b.if_then(tiles.inside(items, k), [&] { count(keys[k]); });
      return std::vector<Value>{};
    };
    b.if_else(tiles.is_full(), full, part);
    b.barrier();
    for (uint32_t first = 0; first < kDigits; first += threads) {
      const Value digit = b.add(t, b.i32(first));
      Value sum = b.i32(0);
      for (uint32_t k = 0; k < copies; ++k)
        sum = b.add(sum, b.load(kir::kI32, counters, b.add(digit, b.i32(k * kCopyStride)), 4));
      tiles.frame().store(sort.counts, sort.place, tiles.count_of(digit),
                          {b.int_resize(sum, register_scalar(sort.place), true), {}});
    }
    b.barrier();
  });
  return std::move(tiles).finish();
}

namespace {

struct Offsets {
  Frame& f;
  const RadixSort& sort;
  kir::Builder& b = f.builder();
  const kir::Scalar place = register_scalar(sort.place);

  Value zero() { return b.constant({place}, 0); }
  Affine address(Value row, Value tile) {
    return computed(b.add(b.mul(row, f.param(sort.tiles())), tile));
  }
  Value load(const Affine& at) { return f.load(sort.counts, sort.place, at).re; }
  void store(const Affine& at, Value x) { f.store(sort.counts, sort.place, at, {x, {}}); }
  void total(Value row, Value x) { f.store(sort.totals, sort.place, computed(row), {x, {}}); }

  void by_threads(const SymInt& rows);
  void by_groups(const SymInt& rows);
};

void Offsets::by_threads(const SymInt& rows) {
  for_each_point(f, {{{0}, rows, {}, false}}, [&] {
    const Value row = f.loops()[0].base;
    const Value sum = b.for_loop(f.index_constant(0), f.param(sort.tiles()), f.index_constant(1),
                                 {zero()}, [&](Value tile, std::span<const Value> before) {
                                   const Affine at = address(row, tile);
                                   const Value count = load(at);
                                   store(at, before[0]);
                                   return std::vector<Value>{b.add(before[0], count)};
                                 })[0];
    total(row, sum);
  });
}

// The exclusive prefix sums of a digit's counts over the tiles of a row: a workgroup a row. It
// scans as many counts at a time as its threads take and carries the total on.
void Offsets::by_groups(const SymInt& rows) {
  const uint32_t threads = f.target().group_threads;
  const auto own_counts = static_cast<uint32_t>(f.tuning().sort.thread_counts);
  b.set_group_size(threads);
  GroupScan scan(b, GroupScan::sums(b, {{place}}), threads);
  const Value tiles = f.param(sort.tiles()), step = f.index_constant(own_counts * threads);
  const Value own = f.index(b.mul(b.local_id(0), b.i32(own_counts)));
  const auto scan_part = [&](Value row, Value lo, Value before) {
    std::vector<Value> counts, inside;
    Value mine = zero();
    for (uint32_t k = 0; k < own_counts; ++k) {
      const Value tile = b.add(b.add(lo, own), f.index_constant(k));
      inside.push_back(b.slt(tile, tiles));
      const Value there = b.select(inside[k], tile, f.index_constant(0));
      counts.push_back(b.select(inside[k], load(address(row, there)), zero()));
      mine = b.add(mine, counts[k]);
    }
    const GroupScan::Result scanned = scan.of({mine});
    Value sum = b.add(before, scanned.exclusive[0]);
    for (uint32_t k = 0; k < own_counts; ++k) {
      b.if_then(inside[k],
                [&] { store(address(row, b.add(b.add(lo, own), f.index_constant(k))), sum); });
      sum = b.add(sum, counts[k]);
    }
    return b.add(before, scanned.total[0]);
  };
  for_each_by_groups(f, rows, [&](Value row) {
    const Value sum = b.for_loop(f.index_constant(0), tiles, step, {zero()},
                                 [&](Value lo, std::span<const Value> before) {
                                   return std::vector<Value>{scan_part(row, lo, before[0])};
                                 })[0];
    b.if_then(b.ieq(b.local_id(0), b.i32(0)), [&] { total(row, sum); });
  });
}

}  // namespace

BuiltKernel radix_offsets_kernel(const BuildContext& c, const RadixSort& sort) {
  const SymInt rows = sort.rows() * SymInt(kDigits);
  Frame f(c.name, c.machine, c.index32, {rows});
  Offsets offsets{f, sort};
  if (sort.tiles() <= SymInt(c.machine.tuning.sort.thread_tiles))
    offsets.by_threads(rows);
  else
    offsets.by_groups(rows);
  return built(std::move(f));
}

}  // namespace primset::schedule
