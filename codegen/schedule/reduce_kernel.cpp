// Reductions along one dimension, with everything that needs their results in the same row: softmax
// and layer_norm are one kernel each.
//
// The domain is [outer ..., R, inner ...]. Two shapes of schedule, chosen by the logical shape
// alone so that the order of additions never depends on layouts or on fusion:
//   row     inner is empty: neighbouring lanes (or threads) take neighbouring elements of the row,
//   and
//           their partial results are combined in a tree. A thread takes several neighbours: one
//           access of memory for all of them, where they lie on a vector's boundary.
//   column  else: every lane (or thread) has a row of its own and walks it in blocks of 64.
// A CPU reads the chunks of a long row (kReductionChunk) in several places at once.
#include <algorithm>

#include "codegen/schedule/combine.h"
#include "codegen/schedule/group_memory.h"
#include "codegen/schedule/held_row.h"
#include "codegen/schedule/kernels.h"
#include "codegen/schedule/loops.h"
#include "codegen/schedule/row_reuse.h"
#include "codegen/schedule/scalar_lowering.h"

namespace primset::schedule {

using kir::Value;
using prims::NodeId;
using prims::SymInt;
using prims::ValueId;

namespace {

constexpr uint16_t kRowLanes = 32;  // partial results of a CPU row, on every machine alike
// A core's prefetchers follow several streams of memory side by side: a chunk's parts bring a tenth
// to a third more of it than the chunk from end to end (8 streams of 1, 2, 4, 8 and 16, measured on
// a Sapphire Rapids). Their partial results have to stay in registers.
constexpr uint16_t kStreams = 8, kStreamLanes = 16;
constexpr size_t kStreamBytes = 1024;
// Half of sixteen registers of 32 bytes: streams that do not fit there together take turns, which
// leaves every addition where it was.
constexpr size_t kFewRegisters = 256;
constexpr int64_t kColumnBlock = 64;  // elements added up before they join the total
constexpr int64_t kThreadRow = 32;    // SIMT: rows up to this length get one thread, not a group
constexpr int64_t kShortRow = 1024;   // SIMT: rows up to this length get a small group
constexpr uint32_t kSmallGroup = 64;
constexpr uint16_t kGroupLanes = 8;  // neighbours of a row that a thread takes: 16 bytes of halves
// SIMT: so many times at most does a thread of a large group take neighbours of a row that is held
// in registers, in so many of them.
constexpr uint32_t kHeldTrips = 4;
constexpr size_t kHeldBytes = 256;
// And so many threads of such groups share a processor: 64 registers each, which is what they need.
constexpr uint32_t kHeldThreads = 1024;

enum class Shape { cpu_row, cpu_column, simt_group, simt_thread };

struct RowSchedule {
  Shape shape;
  uint32_t threads = 1;  // of a workgroup
  uint32_t trips = 0;    // that cover a row, where it is short enough to be held in registers
};

class ReduceBuilder {
 public:
  ReduceBuilder(const BuildContext& c, const ReduceRequest& r, const RowSchedule& schedule)
      : c_(c),
        r_(r),
        shape_(schedule.shape),
        threads_(schedule.threads),
        trips_(schedule.trips),
        frame_(c.name, c.target, c.index32, r.domain),
        emitter_(frame_, c.values) {
    frame_.set_error_buffer(c.errors);
  }

  // `seen`: what a first build without it touched; tells where vectors lie on their boundaries.
  BuiltKernel build(std::vector<LoopDim> kept, std::vector<LoopDim> reduced,
                    const Analysis* seen = nullptr);

 private:
  void rows_on_cpu();
  void rows_on_simt();
  void one_row();
  void held_row();
  bool holds_rows(const Analysis& seen) const;
  void on_trip(uint32_t trip, const std::function<void()>& body);
  Value trip_position(uint32_t trip);
  void store_held();
  void load_kept();
  void make_common(ValueId v, std::set<ValueId>& seen);
  void make_common_of(std::span<const ValueId> values);
  void stage(const std::vector<NodeId>& nodes, bool last);
  std::vector<std::vector<NodeId>> stages() const;
  void store(const Root& root, const Indices& at) { store(root.value, root, at); }
  void store(ValueId v, const Root& root, const Indices& at) {
    store(emitter_.emit(v, at), root, at);
  }
  void store(const Elem& e, const Root& root, const Indices& at);
  // Runs body for the row's elements; lanes and mask are set; carried values go round.
  std::vector<Value> walk_row(
      std::vector<Value> carried,
      const std::function<std::vector<Value>(std::span<const Value>)>& body);
  std::vector<Value> walk_held(
      const std::function<std::vector<Value>(std::span<const Value>)>& body);
  std::vector<Value> walk_blocks(std::vector<Combiner>& combiners, const Indices& at);
  bool streams(std::span<const Combiner> combiners) const;
  std::vector<Value> walk_streams(
      std::vector<Combiner>& combiners,
      const std::function<std::vector<Value>(std::span<const Value>)>& body);
  Value row_is_inside();
  bool covered() const;
  std::vector<Value> combine_all(std::vector<Combiner>& combiners, std::span<const Value> x,
                                 std::span<const Value> y);
  std::vector<Value> accumulate(std::vector<Combiner>& combiners, const Indices& at,
                                std::span<const Value> acc);
  std::vector<Value> identities(std::vector<Combiner>& combiners);
  void combine_lanes(Combiner& c, std::vector<Elem>& acc);
  void combine_threads(Combiner& c, std::vector<Elem>& acc);
  void combine_subgroups(std::vector<Combiner>& combiners, std::vector<std::vector<Elem>>& all);
  bool exchanges(Combiner& c, std::span<const Elem> acc);
  Value exchanged(Value v, uint32_t mask);
  Indices wide_indices() const { return identity_indices(r_.domain); }
  Indices row_indices() const;
  Value index(Value i) { return frame_.index(i); }
  Value constant(int64_t v) { return frame_.index_constant(v); }
  // Do neighbouring lanes take neighbouring elements of a row?
  bool in_lanes() const { return shape_ == Shape::cpu_row || shape_ == Shape::simt_group; }
  kir::Builder& b() { return frame_.builder(); }
  void set_loops();

  const BuildContext& c_;
  const ReduceRequest& r_;
  Shape shape_;
  uint32_t threads_, trips_;
  Value aligned_;                     // simt_group: a row's vectors lie on their boundaries
  Value whole_;                       // and the row consists of such; valid where rows may be held
  bool exact_ = false;                // a row that may be held is as long as its trips reach
  bool held_ = false;                 // the row is, now
  Value inside_;                      // a held row's neighbours are part of it; invalid: always
  std::vector<PaddingTest> padding_;  // to be asked once a row, not of each element
  bool one_stage_ = true;
  Frame frame_;
  ElementEmitter emitter_;
  std::vector<LoopDim> kept_, reduced_;
  SymInt length_ = 1;
  std::optional<KeptElement> kept_element_;
  HeldRow row_;
};

Indices ReduceBuilder::row_indices() const {
  Indices out = wide_indices();
  out.erase(out.begin() + static_cast<std::ptrdiff_t>(r_.dim));
  return out;
}

void ReduceBuilder::set_loops() {
  std::vector<LoopDim> all = kept_;
  all.insert(all.end(), reduced_.begin(), reduced_.end());
  frame_.set_loops(std::move(all));
}

// Reductions that need another one's result come in a later pass over the row.
std::vector<std::vector<NodeId>> ReduceBuilder::stages() const {
  const prims::Graph& g = c_.values.graph;
  std::vector<std::vector<NodeId>> out;
  std::vector<size_t> level(r_.reduces.size(), 0);
  std::function<bool(ValueId, NodeId, std::vector<bool>&)> depends = [&](ValueId v, NodeId on,
                                                                         std::vector<bool>& seen) {
    if (seen[v]) return false;
    seen[v] = true;
    const NodeId p = g.producer(v);
    if (p == prims::Graph::kNoNode || c_.values.placement(v) != nullptr) return false;
    if (p == on) return true;
    const auto& operands = g.node(p).operands;
    return std::any_of(operands.begin(), operands.end(),
                       [&](ValueId o) { return depends(o, on, seen); });
  };
  for (size_t i = 0; i < r_.reduces.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      std::vector<bool> seen(g.value_count());
      const auto& operands = g.node(r_.reduces[i]).operands;
      if (std::any_of(operands.begin(), operands.end(),
                      [&](ValueId o) { return depends(o, r_.reduces[j], seen); })) {
        level[i] = std::max(level[i], level[j] + 1);
      }
    }
    if (out.size() <= level[i]) out.resize(level[i] + 1);
    out[level[i]].push_back(r_.reduces[i]);
  }
  return out;
}

std::vector<Value> ReduceBuilder::identities(std::vector<Combiner>& combiners) {
  std::vector<Value> out;
  for (Combiner& c : combiners) {
    auto flat = c.flatten(c.identity(), frame_.lanes());
    out.insert(out.end(), flat.begin(), flat.end());
  }
  return out;
}

// acc, or nothing, combined with the elements at the row's present position; lanes outside the row
// add nothing.
std::vector<Value> ReduceBuilder::accumulate(std::vector<Combiner>& combiners, const Indices& at,
                                             std::span<const Value> acc) {
  std::vector<Value> out;
  for (Combiner& c : combiners) {
    std::vector<Elem> x;
    for (size_t k = 0; k < c.arity(); ++k) x.push_back(emitter_.emit(c.operand(k), at));
    const Value inside = held_ ? inside_ : frame_.mask();
    if (in_lanes() && inside.valid()) x = c.or_identity(inside, x);
    if (!acc.empty()) x = c.combine(c.unflatten(acc.subspan(out.size(), c.registers())), x);
    auto next = c.flatten(x, frame_.lanes());
    out.insert(out.end(), next.begin(), next.end());
  }
  return out;
}

// Do the threads of a group have all of their neighbours in the row, each time that they take some?
bool ReduceBuilder::covered() const {
  return shape_ == Shape::simt_group && length_.same(SymInt(kReductionChunk)) &&
         kReductionChunk % (int64_t{threads_} * frame_.lanes()) == 0;
}

std::vector<Value> ReduceBuilder::walk_row(
    std::vector<Value> carried,
    const std::function<std::vector<Value>(std::span<const Value>)>& body) {
  if (held_) return walk_held(body);
  const Value n = frame_.param(length_);
  // Elsewhere the lanes are other rows.
  const Value lanes = constant(in_lanes() ? frame_.lanes() : 1);
  Value first = constant(0), step = lanes;
  if (shape_ == Shape::simt_group) {
    first = b().mul(index(b().local_id(0)), lanes);
    step = constant(int64_t{threads_} * frame_.lanes());
  }
  const auto part = [&](Value from, Value to, std::vector<Value> begun, bool masked) {
    return b().for_loop(from, to, step, std::move(begun), [&](Value i, std::span<const Value> acc) {
      ElementEmitter::Scope scope(emitter_);
      if (!reduced_.empty()) reduced_[0].base = i;
      set_loops();
      if (masked && covered()) {
        frame_.set_mask(b().constant({kir::Scalar::i1, frame_.lanes()}, 1), aligned_);
      } else if (masked) {
        const Value left = b().sub(n, i), inside = b().lanes_below(left, frame_.lanes());
        if (shape_ == Shape::cpu_row)
          frame_.set_mask(inside);
        else
          frame_.set_mask(inside, b().and_(b().sle(lanes, left), aligned_));
      }
      return body(acc);
    });
  };
  if (shape_ == Shape::cpu_row && frame_.narrow_vectors()) {
    const Value whole = b().sub(n, b().and_(n, constant(frame_.lanes() - 1)));
    carried = part(first, whole, std::move(carried), false);
    first = whole;
  }
  auto out = part(first, n, std::move(carried), in_lanes());
  if (in_lanes()) frame_.set_mask({}, {});
  return out;
}

// The order of additions is the loop's. What it begins with is combined in the end (stage).
std::vector<Value> ReduceBuilder::walk_held(
    const std::function<std::vector<Value>(std::span<const Value>)>& body) {
  std::vector<Value> carried;
  for (uint32_t trip = 0; trip < trips_; ++trip) on_trip(trip, [&] { carried = body(carried); });
  return carried;
}

// Takes the thread's neighbours of a trip along a held row; what it has read of them is at hand.
// What would lie behind the row's end is its beginning, so that no load waits for a branch.
void ReduceBuilder::on_trip(uint32_t trip, const std::function<void()>& body) {
  ElementEmitter::Scope scope(emitter_);
  const kir::BlockId block = b().block();
  const Value at = trip_position(trip);
  inside_ = {};
  reduced_[0].base = at;
  if (!exact_) {
    const Value inside = b().slt(at, frame_.param(length_));
    inside_ = b().splat(inside, frame_.lanes());
    reduced_[0].base = b().select(inside, at, constant(0));
  }
  set_loops();
  frame_.set_staged([&](const AccessRecord& a) { return row_.find(trip, a); });
  frame_.set_loaded([&](const AccessRecord& a, const std::vector<Value>& parts) {
    // Not what is read under a condition, or in a loop.
    if (b().block() == block && !frame_.mask().valid()) row_.keep(trip, a, parts);
  });
  body();
  frame_.set_staged({});
  frame_.set_loaded({});
}

Value ReduceBuilder::trip_position(uint32_t trip) {
  const Value thread = b().add(index(b().local_id(0)), constant(int64_t{trip} * threads_));
  return b().mul(thread, constant(frame_.lanes()));
}

// All of the results come before the first is stored, for the same reason.
void ReduceBuilder::store_held() {
  std::vector<std::vector<Elem>> results(trips_);
  for (uint32_t trip = 0; trip < trips_; ++trip) {
    on_trip(trip, [&] {
      for (const Root& root : r_.wide)
        results[trip].push_back(emitter_.emit(root.value, wide_indices()));
    });
  }
  for (uint32_t trip = 0; trip < trips_; ++trip) {
    const Value at = trip_position(trip);
    reduced_[0].base = at;
    set_loops();
    const auto store_all = [&] {
      for (size_t k = 0; k < r_.wide.size(); ++k)
        store(results[trip][k], r_.wide[k], wide_indices());
    };
    if (exact_)
      store_all();
    else
      b().if_then(b().slt(at, frame_.param(length_)), store_all);
  }
}

// One thread's row in blocks: the error of a sum grows with the number of blocks and with their
// length, not with their product.
std::vector<Value> ReduceBuilder::walk_blocks(std::vector<Combiner>& combiners, const Indices& at) {
  const Value n = frame_.param(length_), block = constant(kColumnBlock), one = constant(1);
  return b().for_loop(constant(0), n, block, identities(combiners),
                      [&](Value lo, std::span<const Value> total) {
                        Value hi = b().add(lo, block);
                        hi = b().select(b().slt(hi, n), hi, n);
                        auto part = b().for_loop(lo, hi, one, identities(combiners),
                                                 [&](Value i, std::span<const Value> acc) {
                                                   ElementEmitter::Scope scope(emitter_);
                                                   if (!reduced_.empty()) reduced_[0].base = i;
                                                   set_loops();
                                                   return accumulate(combiners, at, acc);
                                                 });
                        return combine_all(combiners, total, part);
                      });
}

std::vector<Value> ReduceBuilder::combine_all(std::vector<Combiner>& combiners,
                                              std::span<const Value> x, std::span<const Value> y) {
  std::vector<Value> out;
  for (Combiner& c : combiners) {
    const auto results = c.combine(c.unflatten(x.subspan(out.size(), c.registers())),
                                   c.unflatten(y.subspan(out.size(), c.registers())));
    const auto flat = c.flatten(results, frame_.lanes());
    out.insert(out.end(), flat.begin(), flat.end());
  }
  return out;
}

// Of the partial results of all streams.
size_t stream_bytes(std::span<const Combiner> combiners) {
  size_t bytes = 0;
  for (const Combiner& c : combiners) {
    for (size_t k = 0; k < c.arity(); ++k) bytes += byte_size(c.dtype(k)) * kStreamLanes * kStreams;
  }
  return bytes;
}

bool ReduceBuilder::streams(std::span<const Combiner> combiners) const {
  if (shape_ != Shape::cpu_row || !length_.same(SymInt(kReductionChunk))) return false;
  return stream_bytes(combiners) <= kStreamBytes;
}

// Each stream has partial results of its own, and the body runs for one stream after the other. The
// frame's lanes stay those of a stream, as the results', until stage() has combined them.
std::vector<Value> ReduceBuilder::walk_streams(
    std::vector<Combiner>& combiners,
    const std::function<std::vector<Value>(std::span<const Value>)>& body) {
  constexpr int64_t kPart = kReductionChunk / kStreams;
  frame_.set_lanes(kStreamLanes);
  frame_.set_prefetches(false);
  const size_t registers = identities(combiners).size();
  const auto at_once = static_cast<uint16_t>(
      frame_.narrow_vectors()
          ? std::max<size_t>(1, kStreams * kFewRegisters / stream_bytes(combiners))
          : kStreams);
  const auto walk_some = [&](uint16_t begin) {
    std::vector<Value> carried;
    for (uint16_t s = 0; s < at_once; ++s)
      std::ranges::copy(identities(combiners), std::back_inserter(carried));
    return b().for_loop(constant(0), constant(kPart), constant(kStreamLanes), std::move(carried),
                        [&](Value i, std::span<const Value> all) {
                          std::vector<Value> next;
                          for (uint16_t s = 0; s < at_once; ++s) {
                            ElementEmitter::Scope scope(emitter_);
                            reduced_[0].base = b().add(i, constant((begin + s) * kPart));
                            set_loops();
                            const auto one = body(all.subspan(next.size(), registers));
                            next.insert(next.end(), one.begin(), one.end());
                          }
                          return next;
                        });
  };
  const auto walk = [&] {
    std::vector<Value> all;
    for (uint16_t s = 0; s < kStreams; s += at_once)
      std::ranges::copy(walk_some(s), std::back_inserter(all));
    return all;
  };
  const auto walk_inside = [&] {
    std::set<ValueId> padded;
    for (const PaddingTest& t : padding_) padded.insert(t.padded);
    emitter_.set_inside(std::move(padded));
    auto out = walk();
    emitter_.set_inside({});
    return out;
  };
  std::vector<Value> parts =
      padding_.empty() ? walk() : b().if_else(row_is_inside(), walk_inside, walk);
  frame_.set_prefetches(true);
  for (size_t half = kStreams / 2 * registers; half >= registers; half /= 2) {
    for (size_t k = 0; k < half; k += registers) {
      const std::span<const Value> x(&parts[k], registers), y(&parts[half + k], registers);
      const auto both = combine_all(combiners, x, y);
      std::ranges::copy(both, parts.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
  parts.resize(registers);
  return parts;
}

// Does no element of the present row lie in padding? Indices grow or fall all along it.
Value ReduceBuilder::row_is_inside() {
  const uint16_t lanes = frame_.lanes();
  frame_.set_lanes(1);
  Value all = b().i1(true);
  for (const SymInt& place : {SymInt(0), length_ - 1}) {
    reduced_[0].base = frame_.param(place);
    set_loops();
    for (const PaddingTest& t : padding_)
      all = b().and_(all, b().ult(frame_.materialize(t.index), frame_.param(t.size)));
  }
  frame_.set_lanes(lanes);
  return all;
}

void ReduceBuilder::combine_lanes(Combiner& c, std::vector<Elem>& acc) {
  for (uint16_t half = frame_.lanes() / 2; half > 0; half /= 2) {
    std::vector<uint16_t> low, high;
    for (uint16_t l = 0; l < half; ++l) {
      low.push_back(l);
      high.push_back(static_cast<uint16_t>(l + half));
    }
    auto take = [&](Value v, const std::vector<uint16_t>& lanes) {
      if (!v.valid()) return v;
      return half == 1 ? b().extract(v, lanes[0]) : b().shuffle(v, v, lanes);
    };
    std::vector<Elem> x, y;
    for (const Elem& e : acc) {
      x.push_back({take(e.re, low), take(e.im, low)});
      y.push_back({take(e.re, high), take(e.im, high)});
    }
    acc = c.combine(x, y);
  }
}

// Of another lane of the subgroup.
Value ReduceBuilder::exchanged(Value v, uint32_t mask) {
  const kir::Scalar s = b().type(v).scalar;
  if (kir::width(s) >= 32) return b().subgroup_shuffle_xor(v, mask);
  return b().trunc(b().subgroup_shuffle_xor(b().zext(v, kir::Scalar::i32), mask), s);
}

// Subgroups by exchanges, then the few results of theirs through workgroup memory.
void ReduceBuilder::combine_subgroups(std::vector<Combiner>& combiners,
                                      std::vector<std::vector<Elem>>& all) {
  const uint32_t lanes = c_.target.max_subgroup, subgroups = threads_ / lanes;
  const Value thread = b().local_id(0), lane = b().and_(thread, b().i32(lanes - 1));
  std::vector<Value> flat;
  for (size_t n = 0; n < all.size(); ++n) {
    Combiner& c = combiners[n];
    for (uint32_t mask = lanes / 2; mask > 0; mask /= 2) {
      std::vector<Value> other = c.flatten(all[n], 1);
      for (Value& v : other) v = exchanged(v, mask);
      all[n] = c.combine(all[n], c.unflatten(other));
    }
    const std::vector<Value> mine = c.flatten(all[n], 1);
    flat.insert(flat.end(), mine.begin(), mine.end());
  }
  GroupMemory memory(b(), flat, subgroups);
  b().if_then(b().ieq(lane, b().i32(0)),
              [&] { memory.put(b().udiv(thread, b().i32(lanes)), flat); });
  b().barrier();
  std::vector<std::vector<Value>> rows;
  for (uint32_t i = 0; i < subgroups; ++i) rows.push_back(memory.get(b().i32(i)));
  size_t used = 0;
  for (size_t n = 0; n < all.size(); ++n) {
    Combiner& c = combiners[n];
    std::vector<std::vector<Elem>> parts;
    for (const auto& row : rows)
      parts.push_back(c.unflatten(std::span<const Value>(row).subspan(used, c.registers())));
    used += c.registers();
    for (size_t half = subgroups / 2; half > 0; half /= 2) {
      for (size_t i = 0; i < half; ++i) parts[i] = c.combine(parts[i], parts[i + half]);
    }
    all[n] = parts[0];
  }
  // The memory is used again by the next row; with several stages, each one's barrier is between.
  if (one_stage_) b().barrier();
}

bool ReduceBuilder::exchanges(Combiner& c, std::span<const Elem> acc) {
  const kir::TargetModel& t = c_.target;
  // Threads of a group are known to belong to subgroups in the order of their ids with ballots.
  if (!t.subgroup_ballot || t.min_subgroup != t.max_subgroup || t.max_subgroup < 2) return false;
  return threads_ % t.max_subgroup == 0 && std::ranges::all_of(c.flatten(acc, 1), [&](Value v) {
           const kir::Scalar s = b().type(v).scalar;
           return s != kir::Scalar::f16;
         });
}

// A tree in workgroup memory; every thread gets the result.
void ReduceBuilder::combine_threads(Combiner& c, std::vector<Elem>& acc) {
  const uint32_t threads = threads_;
  const Value t = b().local_id(0);
  const std::vector<Value> flat = c.flatten(acc, 1);
  GroupMemory memory(b(), flat, threads);
  memory.put(t, flat);
  for (uint32_t half = threads / 2; half > 0; half /= 2) {
    b().barrier();
    b().if_then(b().ult(t, b().i32(half)), [&] {
      const auto mine = memory.get(t), other = memory.get(b().add(t, b().i32(half)));
      memory.put(t, c.flatten(c.combine(c.unflatten(mine), c.unflatten(other)), 1));
    });
  }
  b().barrier();
  acc = c.unflatten(memory.get(b().i32(0)));
  b().barrier();  // the memory is used again by the next row
}

void ReduceBuilder::stage(const std::vector<NodeId>& nodes, bool last) {
  std::vector<Combiner> combiners;
  for (NodeId n : nodes) combiners.emplace_back(emitter_, n);
  if (held_) {
    for (NodeId n : nodes) make_common_of(c_.values.graph.node(n).operands);
  }
  const Indices at = wide_indices();
  std::vector<Value> acc;
  if (shape_ == Shape::cpu_column || shape_ == Shape::simt_thread) {
    acc = walk_blocks(combiners, at);
  } else {
    const auto body = [&](std::span<const Value> a) {
      std::vector<Value> next = accumulate(combiners, at, a);
      if (last && kept_element_) store(kept_element_->value, kept_element_->root, at);
      return next;
    };
    acc =
        streams(combiners) ? walk_streams(combiners, body) : walk_row(identities(combiners), body);
  }
  std::vector<std::vector<Elem>> all;
  size_t used = 0;
  bool exchange = shape_ == Shape::simt_group;
  for (Combiner& c : combiners) {
    all.push_back(c.unflatten(std::span<const Value>(acc).subspan(used, c.registers())));
    used += c.registers();
    if (in_lanes()) combine_lanes(c, all.back());
    if (held_) all.back() = c.combine(c.identity(), all.back());
    exchange = exchange && exchanges(c, all.back());
  }
  if (shape_ == Shape::cpu_row) frame_.set_lanes(kRowLanes);
  if (exchange) combine_subgroups(combiners, all);
  for (size_t n = 0; n < all.size(); ++n) {
    Combiner& c = combiners[n];
    if (shape_ == Shape::simt_group && !exchange) combine_threads(c, all[n]);
    for (size_t k = 0; k < c.arity(); ++k) emitter_.bind(c.result(k), row_indices(), all[n][k]);
  }
}

void ReduceBuilder::store(const Elem& e, const Root& root, const Indices& at) {
  frame_.store(root.out.buffer, c_.values.graph.type(root.value).dtype,
               place_address(frame_, root.out, at), e);
}

void ReduceBuilder::load_kept() {
  const Root& root = kept_element_->root;
  const DType dtype = c_.values.graph.type(root.value).dtype;
  const Indices at = wide_indices();
  emitter_.bind(kept_element_->value, at,
                frame_.load(root.out.buffer, dtype, place_address(frame_, root.out, at)));
}

// What all elements of a row share is made before the walk along it, and not with each of them.
void ReduceBuilder::make_common(ValueId v, std::set<ValueId>& seen) {
  const prims::Graph& g = c_.values.graph;
  const NodeId p = v == prims::kNoValue ? prims::Graph::kNoNode : g.producer(v);
  if (p == prims::Graph::kNoNode || c_.values.placement(v) != nullptr || !seen.insert(v).second)
    return;
  const prims::Node& n = g.node(p);
  if (is_elementwise(n.prim)) {
    for (ValueId operand : n.operands) make_common(operand, seen);
  } else if (n.prim == prims::Prim::broadcast_in_dim) {
    const auto& dims = n.attr<std::vector<int64_t>>("dims");
    const auto along = std::ranges::find(dims, static_cast<int64_t>(r_.dim)) - dims.begin();
    const SymInts& shape = g.type(n.operands[0]).shape;
    const auto d = static_cast<size_t>(along);
    if (d == dims.size() || shape[d].same(SymInt(1))) emitter_.emit_viewed(n, wide_indices());
  }
}

void ReduceBuilder::make_common_of(std::span<const ValueId> values) {
  std::set<ValueId> seen;
  for (ValueId v : values) make_common(v, seen);
}

void ReduceBuilder::one_row() {
  ElementEmitter::Scope scope(emitter_);
  set_loops();
  const auto all_stages = stages();
  one_stage_ = all_stages.size() == 1;
  if (shape_ == Shape::cpu_row) kept_element_ = kept_element(c_.values, r_, all_stages.back());
  for (size_t i = 0; i < all_stages.size(); ++i) stage(all_stages[i], i + 1 == all_stages.size());

  // What has one element a row: one lane, one thread.
  const uint16_t lanes = frame_.lanes();
  if (in_lanes()) frame_.set_lanes(1);
  set_loops();
  auto store_rows = [&] {
    for (const Root& root : r_.rows) store(root, row_indices());
  };
  if (shape_ == Shape::simt_group && !r_.rows.empty()) {
    b().if_then(b().ieq(b().local_id(0), b().i32(0)), [&] {
      ElementEmitter::Scope inner(emitter_);
      store_rows();
    });
  } else {
    store_rows();
  }
  frame_.set_lanes(lanes);
  if (r_.wide.empty()) return;
  if (held_) {
    std::vector<ValueId> values;
    for (const Root& root : r_.wide) values.push_back(root.value);
    make_common_of(values);
    return store_held();
  }
  walk_row({}, [&](std::span<const Value>) {
    if (kept_element_) load_kept();
    for (const Root& root : r_.wide) store(root, wide_indices());
    return std::vector<Value>{};
  });
}

// Rows whose vectors lie whole and on their boundaries are read once.
void ReduceBuilder::held_row() {
  const auto row = [&](bool held) {
    return [this, held] {
      held_ = held;
      row_ = {};
      one_row();
      held_ = false;
      return kir::Builder::Values{};
    };
  };
  b().if_else(whole_, row(true), row(false));
}

// Are elements read again, and few enough of them?
bool ReduceBuilder::holds_rows(const Analysis& seen) const {
  size_t bytes = 0;
  const auto& all = seen.accesses;
  for (auto a = all.begin(); a != all.end(); ++a) {
    const auto is_a = [&](const AccessRecord& other) { return same_access(other, *a); };
    if (a->lanes == LaneAccess::same || a->store) continue;
    if (std::find_if(all.begin(), a, is_a) == a &&
        std::find_if(a + 1, all.end(), is_a) != all.end())
      bytes += byte_size(a->dtype);
  }
  return trips_ > 0 && bytes > 0 && bytes * kGroupLanes * trips_ <= kHeldBytes;
}

void ReduceBuilder::rows_on_simt() {
  const uint32_t threads = threads_;
  b().set_group_size(threads);
  const SymInt rows = extent(kept_, 0, kept_.size());
  const bool group = shape_ == Shape::simt_group;
  const SymInt wanted = group ? rows : prims::ceil_div(rows, threads);
  frame_.step().groups = {prims::min(wanted, SymInt(c_.target.max_groups_x)), 1, 1};
  Value first = index(b().group_id(0)), step = index(b().group_count(0));
  if (!group) {
    first = b().add(b().mul(first, constant(threads)), index(b().local_id(0)));
    step = b().mul(step, constant(threads));
  }
  b().for_loop(first, frame_.param(rows), step, {}, [&](Value row, auto) {
    decode(frame_, row, kept_, 0, kept_.size());
    if (whole_.valid())
      held_row();
    else
      one_row();
    return std::vector<Value>{};
  });
}

void ReduceBuilder::rows_on_cpu() {
  const bool column = shape_ == Shape::cpu_column;
  frame_.set_lanes(column ? cpu_lanes(c_.target) : kRowLanes);
  const size_t outer = column ? kept_.size() - 1 : kept_.size();
  SymInt items = extent(kept_, 0, outer);
  SymInt blocks = 1;
  if (column) {
    kept_.back().lanes = true;
    blocks = prims::ceil_div(kept_.back().size, SymInt(frame_.lanes()));
    items *= blocks;
  } else if (!reduced_.empty()) {
    reduced_[0].lanes = true;
  }
  const SymInt work = column ? length_ * SymInt(frame_.lanes()) : length_;
  const SymInt per_group =
      prims::max(SymInt(1), prims::floor_div(SymInt(kGroupElements), prims::max(work, SymInt(1))));
  frame_.step().groups = {prims::ceil_div(items, per_group), 1, 1};
  Value first = b().mul(index(b().group_id(0)), frame_.param(per_group));
  Value last = b().add(first, frame_.param(per_group)), all = frame_.param(items);
  last = b().select(b().slt(last, all), last, all);
  b().for_loop(first, last, constant(1), {}, [&](Value item, auto) {
    if (column) {
      Value row = b().udiv(item, frame_.param(blocks));
      Value block = b().sub(item, b().mul(row, frame_.param(blocks)));
      decode(frame_, row, kept_, 0, outer);
      Value base = b().mul(block, constant(frame_.lanes()));
      kept_.back().base = base;
      Value left = b().sub(frame_.param(kept_.back().size), base);
      frame_.set_mask(frame_.lanes() > 1 ? b().lanes_below(left, frame_.lanes()) : Value{});
    } else {
      decode(frame_, item, kept_, 0, outer);
    }
    one_row();
    frame_.set_mask({});
    return std::vector<Value>{};
  });
}

BuiltKernel ReduceBuilder::build(std::vector<LoopDim> kept, std::vector<LoopDim> reduced,
                                 const Analysis* seen) {
  kept_ = std::move(kept);
  reduced_ = std::move(reduced);
  length_ = r_.domain[r_.dim];
  if (seen && frame_.narrow_vectors()) padding_ = seen->padding;
  if (shape_ == Shape::simt_group) {
    frame_.set_lanes(kGroupLanes);
    reduced_[0].lanes = true;
    std::vector<LoopDim> loops = kept_;
    loops.insert(loops.end(), reduced_.begin(), reduced_.end());
    aligned_ = seen ? vectors_align(frame_, *seen, loops, kGroupLanes) : b().i1(true);
    if (seen && holds_rows(*seen)) {
      // A guard: such rows need no test of where they end.
      exact_ = length_ == SymInt(int64_t{trips_} * threads_ * kGroupLanes);
      const Value rest = b().urem(frame_.param(length_), constant(kGroupLanes));
      whole_ = exact_ ? aligned_ : b().and_(aligned_, b().ieq(rest, constant(0)));
      b().set_resident_groups(std::max(1u, kHeldThreads / threads_));
    }
  }
  if (shape_ == Shape::cpu_column && kept_.empty()) kept_.push_back({{}, 1, {}, false});
  if (c_.target.simt)
    rows_on_simt();
  else
    rows_on_cpu();
  return built(std::move(frame_));
}

RowSchedule schedule_of(const BuildContext& c, const ReduceRequest& r) {
  bool inner = false;
  for (size_t d = r.dim + 1; d < r.domain.size(); ++d) inner |= !r.domain[d].same(SymInt(1));
  if (!c.target.simt) return {inner ? Shape::cpu_column : Shape::cpu_row};
  const uint32_t threads = c.target.group_threads;
  // Recorded as guards where the length is not known.
  const SymInt& length = r.domain[r.dim];
  if (inner || !(length > SymInt(kThreadRow))) return {Shape::simt_thread, threads};
  if (length > SymInt(kShortRow)) {
    uint32_t trips = 1;
    while (trips <= kHeldTrips && length > SymInt(int64_t{trips} * threads * kGroupLanes))
      trips *= 2;
    return {Shape::simt_group, threads, trips > kHeldTrips ? 0 : trips};
  }
  return {Shape::simt_group, std::min(kSmallGroup, threads)};
}

}  // namespace

BuiltKernel reduce_kernel(const BuildContext& c, const ReduceRequest& r) {
  const RowSchedule schedule = schedule_of(c, r);
  std::vector<size_t> outer, inner;
  for (size_t d = 0; d < r.domain.size(); ++d) {
    if (d < r.dim) outer.push_back(d);
    if (d > r.dim) inner.push_back(d);
  }
  auto kept_order = outer;
  kept_order.insert(kept_order.end(), inner.begin(), inner.end());
  std::vector<LoopDim> kept = separate_loops(r.domain, kept_order);
  std::vector<LoopDim> reduced = separate_loops(r.domain, {r.dim});
  BuiltKernel first = ReduceBuilder(c, r, schedule).build(kept, reduced);
  std::vector<LoopDim> merged = merge_loops(r.domain, kept, first.analysis);
  const bool again = schedule.shape == Shape::simt_group || !first.analysis.padding.empty();
  if (merged.size() == kept.size() && !again) return first;
  return ReduceBuilder(c, r, schedule).build(merged, reduced, &first.analysis);
}

}  // namespace primset::schedule
