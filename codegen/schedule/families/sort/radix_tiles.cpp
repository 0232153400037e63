#include "codegen/schedule/families/sort/radix_tiles.h"

#include <algorithm>
#include <optional>

#include "codegen/schedule/loops/loops.h"

namespace primset::schedule {

using kir::Value;

Affine computed(Value address) {
  Affine a;
  a.opaque = address;
  return a;
}

namespace {

// Workgroup memory of the scatter kernel: counters of every subgroup, the elements in sorted order,
// the scan, and where each digit's elements go.
uint32_t group_bytes(const kir::TargetModel& target, const RadixTile& tile, uint32_t item_bytes,
                     uint32_t place_bytes) {
  const uint32_t counters = 4 * kDigits * tile.subgroups,
                 items = tile.threads * tile.items * item_bytes;
  const bool exchanges = target.min_subgroup == target.max_subgroup;
  const uint32_t scanned = exchanges ? tile.subgroups : tile.threads;
  return (tile.separate_memory ? counters + items : std::max(counters, items)) +
         kDigits * place_bytes + scanned * (4 + place_bytes);
}

// A multiprocessor that does not say how much memory its groups share may have no more than one of
// them can ask for: two groups are faster than one with twice the elements.
std::optional<RadixTile> fitted(const Machine& machine, RadixTile tile, uint32_t item_bytes,
                                uint32_t place_bytes) {
  const kir::TargetModel& target = machine.target;
  const auto& tuning = machine.tuning.sort;
  const uint32_t max_items = static_cast<uint32_t>(tuning.thread_bytes) / item_bytes;
  tile.items = max_items;
  tile.separate_memory = true;
  tile.min_groups_per_multiprocessor = static_cast<uint32_t>(tuning.resident_groups);
  const auto bytes = [&] { return group_bytes(target, tile, item_bytes, place_bytes); };
  if (tile.min_groups_per_multiprocessor * bytes() <= target.large_group_memory) return tile;
  tile.separate_memory = item_bytes != 4;  // counters are of four
  if (!tile.separate_memory)
    tile.min_groups_per_multiprocessor = static_cast<uint32_t>(tuning.resident_groups_shared);
  for (const uint32_t limit : {target.group_memory / 2, target.group_memory}) {
    for (tile.items = max_items; tile.items >= tuning.least_items; --tile.items)
      if (bytes() <= limit) return tile;
  }
  return std::nullopt;
}

}  // namespace

std::optional<RadixTile> radix_tile(const Machine& machine, DType key, DType place) {
  const kir::TargetModel& target = machine.target;
  const auto& tuning = machine.tuning.sort;
  if (!target.simt || !target.subgroup_ballot || target.max_subgroup < tuning.least_subgroup ||
      target.max_subgroup > 64)
    return std::nullopt;
  if (!target.i64 && std::max(byte_size(key), byte_size(place)) == 8) return std::nullopt;
  RadixTile tile;
  tile.threads = std::min({target.group_threads, static_cast<uint32_t>(tuning.threads),
                           static_cast<uint32_t>(tuning.subgroups) * target.min_subgroup});
  if (tile.threads % target.max_subgroup != 0) return std::nullopt;
  tile.subgroups = tile.threads / target.min_subgroup;
  const auto place_bytes = static_cast<uint32_t>(byte_size(place));
  const uint32_t item_bytes = std::max({4u, static_cast<uint32_t>(byte_size(key)), place_bytes});
  return fitted(machine, tile, item_bytes, place_bytes);
}

SymInt RadixSort::rows() const {
  SymInt n = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (d != dim) n *= shape[d];
  }
  return n;
}

RadixTiles::RadixTiles(const BuildContext& c, const RadixSort& sort, const RadixPass& pass)
    : sort_(sort),
      pass_(pass),
      row_indices_(identity_indices(sort.shape)),
      frame_(c.name, c.machine, c.index32, sort.shape),
      keys_(frame_.builder(), sort.key, sort.descending) {
  frame_.set_error_buffer(c.errors);
  kir::Builder& b = frame_.builder();
  b.set_group_size(sort.tile.threads);
  // A parameter, so that the passes in the middle share their code.
  shift_ = b.scalar_param("shift", kir::kI32);
  frame_.step().scalars.push_back(
      {ScalarParam::Source::integer, kir::kI32, SymInt(pass.shift), 0, 0});
}

BuiltKernel RadixTiles::finish() && {
  return built(std::move(frame_));
}

// Adjacent groups take adjacent rows where rows are interleaved in memory.
void RadixTiles::for_each(const std::function<void()>& body) {
  kir::Builder& b = frame_.builder();
  std::vector<LoopDim> loops;
  for (size_t d = 0; d < sort_.shape.size(); ++d) {
    if (d == sort_.dim)
      loops.push_back({{}, sort_.tiles(), {}, false});
    else if (!sort_.shape[d].same(SymInt(1)))
      loops.push_back({{d}, sort_.shape[d], {}, false});
  }
  for_each_by_groups(frame_, extent(loops, 0, loops.size()), [&](Value number) {
    delinearize(frame_, number, loops, 0, loops.size());
    row_ = frame_.index_constant(0);
    for (const LoopDim& loop : loops) {
      if (loop.dims.empty())
        tile_ = loop.base;
      else
        row_ = b.add(b.mul(row_, frame_.param(loop.size)), loop.base);
    }
    first_ = b.mul(tile_, frame_.index_constant(sort_.tile.elements()));
    frame_.set_loops(loops);
    body();
  });
}

Value RadixTiles::elements() {
  kir::Builder& b = frame_.builder();
  const Value left = b.sub(frame_.param(sort_.shape[sort_.dim]), first_);
  const Value full = frame_.index_constant(sort_.tile.elements());
  return b.int_resize(b.select(b.slt(left, full), left, full), kir::Scalar::i32, true);
}

Value RadixTiles::inside(const Items& items, uint32_t k) {
  kir::Builder& b = frame_.builder();
  return b.slt(b.mul(items.step, b.i32(k)), b.sub(elements(), items.first));
}

Value RadixTiles::is_full() {
  return frame_.builder().ieq(elements(), frame_.builder().i32(sort_.tile.elements()));
}

std::vector<Value> RadixTiles::load_items(const Items& items, const Load& load) {
  return frame_.builder().if_else(
      is_full(), [&] { return load_full(items, load); }, [&] { return load_partial(items, load); });
}

std::vector<Value> RadixTiles::load_full(const Items& items, const Load& load) {
  kir::Builder& b = frame_.builder();
  const Value number = b.add(first_, index(items.first));
  std::vector<Value> out;
  for (uint32_t k = 0; k < items.count; ++k) {
    const Value more = b.mul(items.step, b.i32(k));
    const std::optional<int64_t> known = b.known_int(more);
    out.push_back(known ? load(number, *known) : load(b.add(number, index(more)), 0));
  }
  return out;
}

std::vector<Value> RadixTiles::load_partial(const Items& items, const Load& load) {
  kir::Builder& b = frame_.builder();
  const Value all = elements();
  std::vector<Value> out;
  for (uint32_t k = 0; k < items.count; ++k) {
    const Value place = b.add(items.first, b.mul(items.step, b.i32(k)));
    const Value there = b.select(b.slt(place, all), place, b.i32(0));
    out.push_back(load(b.add(first_, index(there)), 0));
  }
  return out;
}

Indices RadixTiles::at(Value number) const {
  Indices out = row_indices_;
  out[sort_.dim] = affine_index(computed(number));
  return out;
}

Affine RadixTiles::address(const Placement& p, Value number, int64_t more) {
  const bool known = p.strides[sort_.dim].is_constant();
  if (!known) number = frame_.builder().add(number, frame_.index_constant(more));
  Indices indices = at(number);
  if (known) indices[sort_.dim].affine.constant = more;
  return element_address(frame_, p, indices);
}

Value RadixTiles::digit_row(Value digit) {
  kir::Builder& b = frame_.builder();
  return b.add(b.mul(row_, frame_.index_constant(kDigits)), index(digit));
}

Affine RadixTiles::total_of(Value digit) {
  return computed(digit_row(digit));
}

Affine RadixTiles::count_of(Value digit) {
  kir::Builder& b = frame_.builder();
  return computed(b.add(b.mul(digit_row(digit), frame_.param(sort_.tiles())), tile_));
}

Value RadixTiles::load_key(Value number, int64_t more) {
  const ElementValue x =
      frame_.load(pass_.keys.buffer, sort_key_bits(sort_.key), address(pass_.keys, number, more));
  return frame_.builder().zext(x.re, word().scalar);
}

void RadixTiles::store_key(const Placement& to, Value number, int64_t more, Value key) {
  const DType bits = sort_key_bits(sort_.key);
  frame_.store(to.buffer, bits, address(to, number, more),
               {frame_.builder().int_resize(key, register_scalar(bits), false), {}});
}

Value RadixTiles::digit(Value ordered) {
  kir::Builder& b = frame_.builder();
  const Value shifted = b.lshr(ordered, b.int_resize(shift_, word().scalar, false));
  return b.and_(b.int_resize(shifted, kir::Scalar::i32, false), b.i32(kDigits - 1));
}

Value RadixTiles::above_digit(Value ordered) {
  kir::Builder& b = frame_.builder();
  const kir::Scalar scalar = word().scalar;
  return b.lshr(b.lshr(ordered, b.int_resize(shift_, scalar, false)),
                b.constant(word(), kDigitBits));
}

Value RadixTiles::digit_bit(int bit) {
  kir::Builder& b = frame_.builder();
  const Value place = b.int_resize(b.add(shift_, b.i32(bit)), word().scalar, false);
  return b.shl(b.constant(word(), 1), place);
}

}  // namespace primset::schedule
