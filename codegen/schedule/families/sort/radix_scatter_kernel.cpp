// The last step of a pass of a radix sort.
#include <algorithm>
#include <functional>

#include "codegen/schedule/families/scan/group_scan.h"
#include "codegen/schedule/families/sort/radix_tiles.h"

namespace primset::schedule {

using kir::kI32;
using kir::Value;

namespace {

// Which lanes of a subgroup hold what this lane holds: a bit each, 32 of them a word.
class Ballots {
 public:
  // bits: each of them has one bit, that which digits are made of.
  Ballots(kir::Builder& b, std::vector<Value> bits) : b_(b), bits_(std::move(bits)) {
    const Value lane = b.subgroup_lane();
    for (uint32_t word = 0; word < (b.target().max_subgroup + 31) / 32; ++word) {
      all_.push_back(b.subgroup_ballot(b.i1(true), word));
      const Value from = b.i32(32 * word);
      const Value later = b.ule(b.add(from, b.i32(32)), lane);
      const Value own = b.and_(b.ule(from, lane), b.not_(later));
      const Value bit = b.shl(b.i32(1), b.and_(lane, b.i32(31)));
      below_.push_back(b.select(own, b.sub(bit, b.i32(1)), b.select(later, b.i32(-1), b.i32(0))));
    }
  }

  struct Equal {
    Value count, before;  // lanes with the same digit; those of them before this one
    Value first;          // the first such lane
  };
  Equal equal(Value x) const {
    std::vector<Value> lanes = all_;
    for (Value bit : bits_) {
      const Value set = b_.ine(b_.and_(x, bit), b_.constant(b_.type(x), 0));
      const Value flip = b_.select(set, b_.i32(0), b_.i32(-1));
      for (uint32_t word = 0; word < lanes.size(); ++word)
        lanes[word] = b_.and_(lanes[word], b_.xor_(b_.subgroup_ballot(set, word), flip));
    }
    Equal out{b_.i32(0), b_.i32(0), b_.i32(0)};
    for (size_t word = lanes.size(); word-- > 0;) {
      const Value same = lanes[word];
      out.count = b_.add(out.count, b_.popcount(same));
      out.before = b_.add(out.before, b_.popcount(b_.and_(same, below_[word])));
      const Value up_to_first = b_.xor_(same, b_.sub(same, b_.i32(1)));
      const Value first =
          b_.add(b_.popcount(up_to_first), b_.i32(static_cast<int64_t>(32 * word) - 1));
      out.first =
          word + 1 == lanes.size() ? first : b_.select(b_.ine(same, b_.i32(0)), first, out.first);
    }
    return out;
  }

 private:
  kir::Builder& b_;
  const std::vector<Value> bits_;
  std::vector<Value> all_, below_;
};

std::vector<Value> digit_bits(RadixTiles& tiles) {
  std::vector<Value> bits;
  for (int bit = 0; bit < kDigitBits; ++bit) bits.push_back(tiles.digit_bit(bit));
  return bits;
}

class Scatter {
 public:
  Scatter(const BuildContext& c, const RadixSort& sort, const RadixPass& pass)
      : sort_(sort),
        pass_(pass),
        graph_(c.values.graph),
        tiles_(c, sort, pass),
        f_(tiles_.frame()),
        b_(f_.builder()),
        emitter_(f_, c.values),
        place_(register_scalar(sort.place)),
        item_(byte_size(sort.key) == 8 ? kir::Scalar::i64 : place_),
        counters_(b_.group_alloc(kir::Scalar::i32, counter_words(sort.tile))),
        items_(sort.tile.separate_memory
                   ? b_.group_alloc(item_, static_cast<uint32_t>(sort.tile.elements()))
                   : counters_),
        moves_(b_.group_alloc(place_, kDigits)),
        scan_(b_, GroupScan::sums(b_, {kI32, {place_}}), sort.tile.threads),
        ballots_(b_, digit_bits(tiles_)) {
    b_.set_min_groups_per_multiprocessor(sort.tile.min_groups_per_multiprocessor);
    // A subgroup has contiguous elements of the tile; its lanes take them striped.
    const kir::TargetModel& target = f_.target();
    const Value size = target.min_subgroup == target.max_subgroup ? b_.i32(target.min_subgroup)
                                                                  : b_.subgroup_size();
    const Value subgroup = b_.udiv(b_.local_id(0), size);
    own_counters_ = b_.mul(subgroup, b_.i32(kDigits));
    const Value first = b_.mul(b_.mul(subgroup, size), b_.i32(sort.tile.items));
    own_ = {b_.add(first, b_.subgroup_lane()), size, sort.tile.items};
  }

  BuiltKernel build() {
    tiles_.for_each([&] { tile(); });
    return std::move(tiles_).finish();
  }

 private:
  static uint32_t counter_words(const RadixTile& tile) {
    const uint32_t counters = tile.subgroups * kDigits;
    return tile.separate_memory ? counters
                                : std::max(counters, static_cast<uint32_t>(tile.elements()));
  }
  void tile();
  void clear_counters();
  std::vector<Value> rank(const std::vector<Value>& keys);
  std::vector<Value> places_of(std::vector<Value> ranks);
  void place_runs();
  std::vector<Value> reordered(const std::vector<Value>& items, const std::vector<Value>& places);
  std::vector<Value> load_positions();
  std::vector<Value> destinations(const std::vector<Value>& sorted);
  void write(const std::function<void(uint32_t)>& store_one);
  void store_key(Value number, int64_t more, Value key);
  void store_position(Value number, int64_t more, Value position);

  // The place in the tile of a thread's k-th element, striped over the workgroup.
  Value striped(uint32_t k) { return b_.add(b_.local_id(0), b_.i32(int64_t{k} * threads())); }
  Value load_item(uint32_t k) { return b_.load({item_}, items_, striped(k), item_align()); }
  void store_item(Value at, Value v) {
    b_.store(items_, at, b_.int_resize(v, item_, true), item_align());
  }
  uint32_t item_align() const { return static_cast<uint32_t>(kir::bytes(item_)); }
  Value load_counter(Value at) { return b_.load(kI32, counters_, at, 4); }
  uint32_t threads() const { return sort_.tile.threads; }
  uint32_t items() const { return sort_.tile.items; }

  const RadixSort& sort_;
  const RadixPass& pass_;
  const prims::Graph& graph_;
  RadixTiles tiles_;
  Frame& f_;
  kir::Builder& b_;
  ElementEmitter emitter_;
  const kir::Scalar place_, item_;
  // Workgroup memory. counters: how many elements of a digit a subgroup has seen, and then the
  // place in the tile of the first one. items: elements on their way, of the tile's places; where
  // it is separate from the counters, the threads' ranks before. moves: what leads from a place in
  // the tile to one in the row.
  const Value counters_, items_, moves_;
  GroupScan scan_;
  const Ballots ballots_;
  Value own_counters_;
  RadixTiles::Items own_;
};

void Scatter::clear_counters() {
  if (!sort_.tile.separate_memory) b_.barrier();  // the last tile's elements have been read
  for (uint32_t k = 0; k < sort_.tile.subgroups * kDigits; k += threads())
    b_.store(counters_, b_.add(b_.local_id(0), b_.i32(k)), b_.i32(0), 4);
  b_.barrier();
}

void Scatter::tile() {
  clear_counters();
  const std::vector<Value> keys = tiles_.load_items(
      own_, [&](Value number, int64_t more) { return tiles_.load_key(number, more); });
  std::vector<Value> ranks = rank(keys);
  b_.barrier();
  place_runs();
  const std::vector<Value> places = places_of(std::move(ranks));
  const std::vector<Value> sorted = reordered(keys, places);
  const std::vector<Value> to = destinations(sorted);
  const auto more = [&](uint32_t k) { return int64_t{k} * threads(); };
  // Keys are written before positions are loaded, so that their registers are free by then.
  write([&](uint32_t k) { store_key(to[k], more(k), sorted[k]); });
  if (!pass_.moves_positions) return;
  std::vector<Value> positions = load_positions();
  b_.barrier();
  positions = reordered(positions, places);
  write([&](uint32_t k) { store_position(to[k], more(k), positions[k]); });
}

// The place in the tile of each element: where its digit begins, plus its rank. Ranks wait in
// workgroup memory where there is room: compilers would hold each in two registers until here.
std::vector<Value> Scatter::places_of(std::vector<Value> ranks) {
  if (sort_.tile.separate_memory) {
    for (uint32_t k = 0; k < items(); ++k)
      ranks[k] = b_.int_resize(load_item(k), kir::Scalar::i32, false);
  }
  b_.barrier();
  std::vector<Value> places;
  for (Value r : ranks) {
    const Value digit = b_.and_(r, b_.i32(kDigits - 1));
    const Value run = load_counter(b_.add(own_counters_, digit));
    places.push_back(b_.add(run, b_.lshr(r, b_.i32(kDigitBits))));
  }
  if (!sort_.tile.separate_memory) b_.barrier();  // elements take the counters' place
  return places;
}

// The place in the row of each element that the thread writes, less its number in the thread.
std::vector<Value> Scatter::destinations(const std::vector<Value>& sorted) {
  const Value thread = b_.int_resize(b_.local_id(0), place_, true);
  std::vector<Value> to;
  for (Value key : sorted) {
    const Value move = b_.load({place_}, moves_, tiles_.digit(tiles_.ordered(key)),
                               static_cast<uint32_t>(kir::bytes(place_)));
    to.push_back(tiles_.index(b_.add(move, thread)));
  }
  return to;
}

// Striped: thread t writes elements t, t + threads, t + 2 threads, ... of the tile.
void Scatter::write(const std::function<void(uint32_t)>& store_one) {
  const RadixTiles::Items striped{b_.local_id(0), b_.i32(threads()), items()};
  const auto full = [&] {
    for (uint32_t k = 0; k < items(); ++k) store_one(k);
    return std::vector<Value>{};
  };
  const auto part = [&] {
    for (uint32_t k = 0; k < items(); ++k)
      b_.if_then(tiles_.inside(striped, k), [&] { store_one(k); });
    return std::vector<Value>{};
  };
  b_.if_else(tiles_.is_full(), full, part);
}

// The rank of each of the thread's elements: how many elements of its subgroup with the same digit
// come before it; the digit is in the rank's low bits. Elements behind the row's end get the last
// digit and the last ranks. A ballot a bit finds the lanes with an equal digit (Ashkiani et
// al.: GPU Multisplit, 2016).
std::vector<Value> Scatter::rank(const std::vector<Value>& keys) {
  std::vector<Value> ranks;
  for (uint32_t k = 0; k < items(); ++k) {
    const Value x = b_.select(tiles_.inside(own_, k), tiles_.ordered(keys[k]), tiles_.last());
    const Value digit = tiles_.digit(x);
    const Ballots::Equal equal = ballots_.equal(x);
    // The first of the lanes with this digit adds all of them to the counter.
    const Value seen = b_.if_else(
        b_.ieq(equal.before, b_.i32(0)),
        [&] {
          return std::vector<Value>{b_.atomic_rmw(kir::Rmw::add, counters_,
                                                  b_.add(own_counters_, digit), equal.count, 4)};
        },
        [&] { return std::vector<Value>{b_.i32(0)}; })[0];
    const Value before = b_.add(b_.subgroup_shuffle(seen, equal.first), equal.before);
    ranks.push_back(b_.or_(b_.shl(before, b_.i32(kDigitBits)), digit));
    if (sort_.tile.separate_memory) store_item(striped(k), ranks.back());
  }
  return ranks;
}

// Turns counts into places by an exclusive scan over the digits; each thread has some adjacent
// ones.
void Scatter::place_runs() {
  const uint32_t each = kDigits / threads();
  const Value first = b_.mul(b_.local_id(0), b_.i32(each));
  const auto counter = [&](uint32_t subgroup, uint32_t k) {
    return b_.add(first, b_.i32(subgroup * kDigits + k));
  };
  std::vector<Value> counts, totals, offsets;
  Value count = b_.i32(0), total = b_.constant({place_}, 0);
  for (uint32_t k = 0; k < each; ++k) {
    const Value digit = b_.add(first, b_.i32(k));
    totals.push_back(f_.load(sort_.totals, sort_.place, tiles_.total_of(digit)).re);
    offsets.push_back(f_.load(sort_.counts, sort_.place, tiles_.count_of(digit)).re);
    total = b_.add(total, totals[k]);
    for (uint32_t s = 0; s < sort_.tile.subgroups; ++s) {
      counts.push_back(load_counter(counter(s, k)));
      count = b_.add(count, counts.back());
    }
  }
  const std::vector<Value> exclusive = scan_.of({count, total}).exclusive;
  Value place = exclusive[0], row_place = exclusive[1];
  for (uint32_t k = 0; k < each; ++k) {
    const Value to = b_.add(row_place, offsets[k]);
    b_.store(moves_, b_.add(first, b_.i32(k)), b_.sub(to, b_.int_resize(place, place_, true)),
             static_cast<uint32_t>(kir::bytes(place_)));
    for (uint32_t s = 0; s < sort_.tile.subgroups; ++s) {
      b_.store(counters_, counter(s, k), place, 4);
      place = b_.add(place, counts[k * sort_.tile.subgroups + s]);
    }
    row_place = b_.add(row_place, totals[k]);
  }
}

// Exchanges the tile's items through workgroup memory: stores each at its place in sorted order,
// then loads them striped.
std::vector<Value> Scatter::reordered(const std::vector<Value>& items,
                                      const std::vector<Value>& places) {
  for (size_t k = 0; k < items.size(); ++k) store_item(places[k], items[k]);
  b_.barrier();
  std::vector<Value> out;
  for (uint32_t k = 0; k < items.size(); ++k)
    out.push_back(b_.int_resize(load_item(k), b_.type(items[k]).scalar, true));
  return out;
}

std::vector<Value> Scatter::load_positions() {
  const auto own = [&](Value number, int64_t more) {
    return b_.int_resize(b_.add(number, f_.index_constant(more)), place_, true);
  };
  if (!pass_.positions) return tiles_.load_full(own_, own);
  return tiles_.load_items(own_, [&](Value number, int64_t more) {
    const Affine at = tiles_.address(*pass_.positions, number, more);
    return f_.load(pass_.positions->buffer, sort_.place, at).re;
  });
}

// Stores to element number + more of the row.
void Scatter::store_key(Value number, int64_t more, Value key) {
  if (pass_.results.empty()) tiles_.store_key(pass_.to_keys, number, more, key);
  for (const SortResult& r : pass_.results) {
    if (r.number == 0) tiles_.store_key(r.out, number, more, key);
  }
}

// Likewise; the last pass writes the payloads at that position.
void Scatter::store_position(Value number, int64_t more, Value position) {
  if (pass_.results.empty()) {
    f_.store(pass_.to_positions.buffer, sort_.place,
             tiles_.address(pass_.to_positions, number, more), {position, {}});
  }
  ElementEmitter::Scope scope(emitter_);
  const prims::Node& n = graph_.node(sort_.node);
  for (const SortResult& r : pass_.results) {
    if (r.number == 0) continue;
    const ElementValue x = emitter_.emit(n.operands[r.number], tiles_.at(tiles_.index(position)));
    f_.store(r.out.buffer, graph_.type(n.operands[r.number]).dtype,
             tiles_.address(r.out, number, more), x);
  }
}

}  // namespace

BuiltKernel radix_scatter_kernel(const BuildContext& c, const RadixSort& sort,
                                 const RadixPass& pass) {
  return Scatter(c, sort, pass).build();
}

}  // namespace primset::schedule
