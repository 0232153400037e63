// The loops along a row: by lanes or threads, in blocks, or as several streams at a time.
#include <algorithm>

#include "codegen/schedule/families/reduction/reduce_builder.h"

namespace primset::schedule {

using kir::Value;
using prims::SymInt;
using prims::ValueId;

namespace {

// Elements of a column whose results a thread computes before it stores the first.
constexpr int64_t kStoredTogether = 4;

// Bytes of the partial results of all streams.
size_t stream_bytes(std::span<const Combiner> combiners) {
  size_t bytes = 0;
  for (const Combiner& c : combiners) {
    for (size_t k = 0; k < c.arity(); ++k) bytes += byte_size(c.dtype(k)) * kStreamLanes * kStreams;
  }
  return bytes;
}

}  // namespace

// Is the row a multiple of what its threads take in one iteration, so that no lane is ever
// outside?
bool ReduceBuilder::covered() const {
  return along_memory() && length_.is_constant() &&
         length_.constant() % (int64_t{row_threads()} * frame_.lanes()) == 0;
}

std::vector<Value> ReduceBuilder::walk_row(
    std::vector<Value> carried,
    const std::function<std::vector<Value>(std::span<const Value>)>& body) {
  if (resident_) return walk_resident(body);
  const Value n = frame_.param(length_);
  // Else the lanes are different rows.
  const Value lanes = constant(in_lanes() ? frame_.lanes() : 1);
  Value first = constant(0), step = lanes;
  if (shares_neighbours()) {
    first = b().mul(row_thread(), lanes);
    step = constant(int64_t{row_threads()} * frame_.lanes());
  } else if (shape_ == ReduceShape::simt_column) {
    first = part_;
    step = constant(parts_);
  }
  const auto part = [&](Value from, Value to, std::vector<Value> begun, bool masked) {
    return b().for_loop(from, to, step, std::move(begun), [&](Value i, std::span<const Value> acc) {
      ElementEmitter::Scope scope(emitter_);
      if (!reduced_.empty()) reduced_[0].base = i;
      set_loops();
      if (masked && covered() && frame_.lanes() == 1) {
        frame_.set_mask({}, {});
      } else if (masked && covered()) {
        frame_.set_mask(b().constant({kir::Scalar::i1, frame_.lanes()}, 1), aligned_);
      } else if (masked) {
        const Value left = b().sub(n, i), inside = b().active_lane_mask(left, frame_.lanes());
        if (shape_ == ReduceShape::cpu_row)
          frame_.set_mask(inside);
        else
          frame_.set_mask(inside, b().and_(b().sle(lanes, left), aligned_));
      }
      return body(acc);
    });
  };
  if (shape_ == ReduceShape::cpu_row && (frame_.narrow_vectors() || short_body_)) {
    const Value whole = b().sub(n, b().and_(n, constant(frame_.lanes() - 1)));
    carried = part(first, whole, std::move(carried), false);
    first = whole;
  }
  auto out = part(first, n, std::move(carried), in_lanes());
  if (in_lanes()) frame_.set_mask({}, {});
  return out;
}

// Elements that a SIMT thread reads side by side, as many as a usual column has for it: it alone
// waits for each.
int64_t ReduceBuilder::read_together() const {
  if (!side_by_side_) return 1;
  int64_t together = frame_.tuning().columns.loads;
  while (together > 1 && together * parts_ > length_.hint()) together /= 2;
  return together;
}

// The results for a column's elements. Those that are read together are computed before the first
// is stored: an output may be an input's memory.
void ReduceBuilder::store_column() {
  const auto elements = [&](Value from, Value to, int64_t together) {
    const auto each = [&](Value i, const std::function<void()>& body) {
      for (int64_t k = 0; k < together; ++k) {
        ElementEmitter::Scope scope(emitter_);
        if (!reduced_.empty()) reduced_[0].base = k == 0 ? i : b().add(i, constant(k * parts_));
        set_loops();
        body();
      }
    };
    b().for_loop(from, to, constant(together * parts_), {}, [&](Value i, auto) {
      std::vector<ElementValue> results;
      each(i, [&] {
        for (const Root& root : r_.domain_roots)
          results.push_back(emitter_.emit(root.value, domain_indices()));
      });
      auto next = results.begin();
      each(i, [&] {
        for (const Root& root : r_.domain_roots) store(*next++, root, domain_indices());
      });
      return kir::Builder::Values{};
    });
  };
  const Value n = frame_.param(length_),
              first = shape_ == ReduceShape::simt_column ? part_ : constant(0);
  const int64_t together = std::min<int64_t>(read_together(), kStoredTogether);
  const Value whole = constant(together * parts_);
  const Value end = b().add(first, b().mul(b().udiv(b().sub(n, first), whole), whole));
  if (together > 1) elements(first, end, together);
  elements(together > 1 ? end : first, n, 1);
}

// One thread's row, or its part of one, in blocks: the error of a sum grows with the number of
// blocks and with their length, not with their product. Several elements of a part are read side by
// side, since a thread alone waits for each.
std::vector<Value> ReduceBuilder::walk_blocks(std::vector<Combiner>& combiners, const Indices& at) {
  const bool shared = shape_ == ReduceShape::simt_column;
  const Value n = frame_.param(length_), block = constant(kColumnBlock * parts_);
  const auto elements = [&](Value from, Value to, std::vector<Value> begun, int64_t together) {
    if (block_) {
      return walk_transposed(from, to, std::move(begun), [&](std::span<const Value> acc) {
        return accumulate(combiners, at, acc);
      });
    }
    return b().for_loop(from, to, constant(together * parts_), std::move(begun),
                        [&](Value i, std::span<const Value> carried) {
                          std::vector<Value> acc(carried.begin(), carried.end());
                          for (int64_t k = 0; k < together; ++k) {
                            ElementEmitter::Scope scope(emitter_);
                            const Value on = k == 0 ? i : b().add(i, constant(k * parts_));
                            if (!reduced_.empty()) reduced_[0].base = on;
                            set_loops();
                            acc = accumulate(combiners, at, acc);
                          }
                          return acc;
                        });
  };
  const int64_t together = read_together();
  return b().for_loop(
      shared ? part_ : constant(0), n, block, identities(combiners),
      [&](Value lo, std::span<const Value> total) {
        Value hi = b().add(lo, block);
        hi = b().select(b().slt(hi, n), hi, n);
        std::vector<Value> part = identities(combiners);
        if (together > 1) {
          const Value rounds = b().udiv(b().sub(hi, lo), constant(together * parts_));
          const Value whole = b().add(lo, b().mul(rounds, constant(together * parts_)));
          part = elements(lo, whole, std::move(part), together);
          lo = whole;
        }
        return combine_all(combiners, total, elements(lo, hi, std::move(part), 1));
      });
}

// Elements of a CPU's columns, `body` one after the other, in blocks that are transposed.
std::vector<Value> ReduceBuilder::walk_transposed(
    Value from, Value to, std::vector<Value> begun,
    const std::function<std::vector<Value>(std::span<const Value>)>& body) {
  std::vector<LoopDim> loops = parallel_;
  loops.insert(loops.end() - 1, reduced_[0]);
  const Value columns = frame_.param(loops.back().size), side = constant(kBlockSide);
  return b().for_loop(
      from, to, side, std::move(begun), [&](Value first, std::span<const Value> carried) {
        Value end = b().add(first, side);
        end = b().select(b().slt(end, to), end, to);
        const BlockPlace place{first, end, loops.back().base, columns};
        block_->read(loops, place);
        return b().for_loop(first, end, constant(1), {carried.begin(), carried.end()},
                            [&](Value i, std::span<const Value> acc) {
                              ElementEmitter::Scope scope(emitter_);
                              std::vector<Value> next;
                              block_->in_row(loops, i, place, [&] { next = body(acc); });
                              return next;
                            });
      });
}

// A core's prefetchers follow several streams of memory side by side: a chunk's parts bring a tenth
// to a third more of it than the chunk from end to end (8 streams of 1, 2, 4, 8 and 16, measured on
// a Sapphire Rapids). Their partial results have to stay in registers.
bool ReduceBuilder::streams(std::span<const Combiner> combiners) const {
  const bool row = shape_ == ReduceShape::cpu_row || shape_ == ReduceShape::cpu_across;
  if (!row || !length_.same(SymInt(kReductionChunk))) return false;
  return stream_bytes(combiners) <= static_cast<size_t>(frame_.tuning().reduction.stream_bytes);
}

// Streams that do not fit narrow vectors' registers together take turns, which leaves every
// addition where it was. Each stream has partial results of its own, and the body runs for one
// stream after the other. The frame's lanes stay those of a stream, as the results', until stage()
// has combined them.
std::vector<Value> ReduceBuilder::walk_streams(
    std::vector<Combiner>& combiners,
    const std::function<std::vector<Value>(std::span<const Value>)>& body) {
  constexpr int64_t kPart = kReductionChunk / kStreams;
  frame_.set_lanes(kStreamLanes);
  frame_.set_prefetches(false);
  const size_t registers = identities(combiners).size();
  const auto at_once = static_cast<uint16_t>(
      frame_.narrow_vectors()
          ? std::max<size_t>(
                1, kStreams * static_cast<size_t>(frame_.tuning().reduction.stream_registers) /
                       stream_bytes(combiners))
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
  combine_halves(combiners, parts);
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

}  // namespace primset::schedule
