// The last step of a pass of a radix sort.
#include "codegen/schedule/group_scan.h"
#include "codegen/schedule/radix_tiles.h"

namespace primset::schedule {

using kir::kI32;
using kir::Value;

namespace {

// Which lanes of a subgroup hold what this lane holds: a bit each, 32 of them a word.
class Ballots {
 public:
  explicit Ballots(kir::Builder& b) : b_(b) {
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
  Equal equal(Value digit) const {
    std::vector<Value> lanes = all_;
    for (int bit = 0; bit < kDigitBits; ++bit) {
      const Value set = b_.and_(b_.lshr(digit, b_.i32(bit)), b_.i32(1));
      const Value flip = b_.sub(set, b_.i32(1));  // all ones where the bit is not set
      for (uint32_t word = 0; word < lanes.size(); ++word) {
        const Value votes = b_.subgroup_ballot(b_.ine(set, b_.i32(0)), word);
        lanes[word] = b_.and_(lanes[word], b_.xor_(votes, flip));
      }
    }
    Equal out{b_.i32(0), b_.i32(0), b_.i32(0)};
    for (size_t word = lanes.size(); word-- > 0;) {
      const Value x = lanes[word];
      out.count = b_.add(out.count, b_.popcount(x));
      out.before = b_.add(out.before, b_.popcount(b_.and_(x, below_[word])));
      const Value zeros = b_.popcount(b_.and_(b_.not_(x), b_.sub(x, b_.i32(1))));
      const Value first = b_.add(zeros, b_.i32(static_cast<int64_t>(32 * word)));
      out.first =
          word + 1 == lanes.size() ? first : b_.select(b_.ine(x, b_.i32(0)), first, out.first);
    }
    return out;
  }

 private:
  kir::Builder& b_;
  std::vector<Value> all_, below_;
};

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
        counters_(b_.group_alloc(kir::Scalar::i32, sort.tile.subgroups * kDigits)),
        items_(b_.group_alloc(item_, static_cast<uint32_t>(sort.tile.elements()))),
        moves_(b_.group_alloc(place_, kDigits)),
        scan_(b_, {kI32, {place_}}, sort.tile.threads),
        ballots_(b_) {
    // A subgroup's elements are neighbours; a lane takes every so many-th of them.
    const kir::TargetModel& target = f_.target();
    const Value size = target.min_subgroup == target.max_subgroup ? b_.i32(target.min_subgroup)
                                                                  : b_.subgroup_size();
    const Value subgroup = b_.udiv(b_.local_id(0), size);
    own_counters_ = b_.mul(subgroup, b_.i32(kDigits));
    stride_ = size;
    first_ = b_.add(b_.mul(b_.mul(subgroup, size), b_.i32(sort.tile.items)), b_.subgroup_lane());
  }

  BuiltKernel build() {
    tiles_.for_each([&] { tile(); });
    return std::move(tiles_).finish();
  }

 private:
  void tile();
  std::vector<Value> load_keys();
  std::vector<Value> rank(const std::vector<Value>& keys);
  void place_runs();
  std::vector<Value> reordered(const std::vector<Value>& items, const std::vector<Value>& places);
  Value position(uint32_t k);
  void store(Value number, Value key, Value position);

  Value own(uint32_t k) { return b_.add(first_, b_.mul(stride_, b_.i32(k))); }
  Value inside(uint32_t k) { return b_.slt(own(k), tiles_.elements()); }
  // The number in the row of this thread's k-th element; the tile's first one's where there is
  // none.
  Value number(uint32_t k) {
    const Value place = b_.select(inside(k), own(k), b_.i32(0));
    return b_.add(tiles_.first(), tiles_.index(place));
  }
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
  // place in the tile of the first one. moves: what leads from a place in the tile to one in the
  // row.
  const Value counters_, items_, moves_;
  GroupScan scan_;
  const Ballots ballots_;
  Value own_counters_, stride_, first_;
};

void Scatter::tile() {
  for (uint32_t k = 0; k < sort_.tile.subgroups * kDigits; k += threads())
    b_.store(counters_, b_.add(b_.local_id(0), b_.i32(k)), b_.i32(0), 4);
  b_.barrier();
  const std::vector<Value> keys = load_keys();
  const std::vector<Value> ranks = rank(keys);
  b_.barrier();
  place_runs();
  std::vector<Value> places;
  for (Value r : ranks) {
    const Value digit = b_.and_(r, b_.i32(kDigits - 1));
    const Value run = load_counter(b_.add(own_counters_, digit));
    places.push_back(b_.add(run, b_.lshr(r, b_.i32(kDigitBits))));
  }
  const std::vector<Value> sorted = reordered(keys, places);
  std::vector<Value> positions;
  if (pass_.moves_positions) {
    for (uint32_t k = 0; k < items(); ++k) positions.push_back(position(k));
    b_.barrier();
    positions = reordered(positions, places);
  }
  const Value elements = tiles_.elements();
  for (uint32_t k = 0; k < items(); ++k) {
    const Value place = b_.add(b_.local_id(0), b_.i32(k * threads()));
    b_.if_then(b_.slt(place, elements), [&] {
      const Value move = b_.load({place_}, moves_, tiles_.digit(sorted[k]),
                                 static_cast<uint32_t>(kir::bytes(place_)));
      const Value to = b_.add(move, b_.int_resize(place, place_, true));
      store(tiles_.index(to), sorted[k], positions.empty() ? Value{} : positions[k]);
    });
  }
}

std::vector<Value> Scatter::load_keys() {
  std::vector<Value> keys;
  for (uint32_t k = 0; k < items(); ++k) keys.push_back(tiles_.load_key(number(k)));
  return keys;
}

// How many elements with its digit the thread's subgroup holds before each of the thread's, and,
// below that, the digit. What is behind the row's end has the last digit, behind all that have it.
std::vector<Value> Scatter::rank(const std::vector<Value>& keys) {
  std::vector<Value> ranks;
  for (uint32_t k = 0; k < items(); ++k) {
    const Value digit = b_.select(inside(k), tiles_.digit(keys[k]), b_.i32(kDigits - 1));
    const Ballots::Equal equal = ballots_.equal(digit);
    // The first lane counts for all.
    const Value seen = b_.if_else(
        b_.ieq(equal.before, b_.i32(0)),
        [&] {
          return std::vector<Value>{b_.atomic_rmw(kir::Rmw::add, counters_,
                                                  b_.add(own_counters_, digit), equal.count, 4)};
        },
        [&] { return std::vector<Value>{b_.i32(0)}; })[0];
    const Value before = b_.add(b_.subgroup_shuffle(seen, equal.first), equal.before);
    ranks.push_back(b_.or_(b_.shl(before, b_.i32(kDigitBits)), digit));
  }
  return ranks;
}

// Counts become places: a thread sees to some neighbouring digits.
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
  const std::vector<Value> before = scan_.exclusive({count, total});
  Value place = before[0], row_place = before[1];
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
  b_.barrier();
}

// The tile's items in the order of their places: the k-th result is that of a thread's k-th
// element when neighbouring threads take neighbours.
std::vector<Value> Scatter::reordered(const std::vector<Value>& items,
                                      const std::vector<Value>& places) {
  const auto align = static_cast<uint32_t>(kir::bytes(item_));
  for (size_t k = 0; k < items.size(); ++k)
    b_.store(items_, places[k], b_.int_resize(items[k], item_, true), align);
  b_.barrier();
  std::vector<Value> out;
  for (uint32_t k = 0; k < items.size(); ++k) {
    const Value x = b_.load({item_}, items_, b_.add(b_.local_id(0), b_.i32(k * threads())), align);
    out.push_back(b_.int_resize(x, b_.type(items[k]).scalar, true));
  }
  return out;
}

Value Scatter::position(uint32_t k) {
  if (!pass_.positions) return b_.int_resize(number(k), place_, true);
  return f_
      .load(pass_.positions->buffer, sort_.place,
            place_address(f_, *pass_.positions, tiles_.at(number(k))))
      .re;
}

void Scatter::store(Value number, Value key, Value position) {
  if (pass_.results.empty()) {
    tiles_.store_key(pass_.to_keys, number, key);
    if (!position.valid()) return;
    f_.store(pass_.to_positions.buffer, sort_.place,
             place_address(f_, pass_.to_positions, tiles_.at(number)), {position, {}});
    return;
  }
  ElementEmitter::Scope scope(emitter_);
  const prims::Node& n = graph_.node(sort_.node);
  for (const RadixPass::Result& r : pass_.results) {
    if (r.number == 0) {
      tiles_.store_key(r.out, number, key);
      continue;
    }
    const Elem x = emitter_.emit(n.operands[r.number], tiles_.at(tiles_.index(position)));
    f_.store(r.out.buffer, graph_.type(n.operands[r.number]).dtype,
             place_address(f_, r.out, tiles_.at(number)), x);
  }
}

}  // namespace

BuiltKernel radix_scatter_kernel(const BuildContext& c, const RadixSort& sort,
                                 const RadixPass& pass) {
  return Scatter(c, sort, pass).build();
}

}  // namespace primset::schedule
