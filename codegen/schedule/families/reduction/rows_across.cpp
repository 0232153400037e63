// Rows side by side in memory on a CPU, as those of a transposed array: a vector's lanes are
// neighbouring rows. The partial results that a row's lanes have otherwise stand in memory of the
// thread, a vector each, and the same tree combines them, so every addition is where it was.
#include <algorithm>

#include "codegen/schedule/families/reduction/reduce_builder.h"
#include "codegen/schedule/loops/group_memory.h"

namespace primset::schedule {

using kir::Value;
using prims::SymInt;

std::optional<size_t> loop_across(const std::vector<LoopDim>& parallel, size_t dim,
                                  const Analysis& seen) {
  for (size_t k = parallel.size(); k-- > 0;) {
    const size_t across = parallel[k].dims.back();
    // A row's own number, where it says which element is read, is one for each lane.
    const auto at_index = [](const AccessRecord& a) { return !a.store && !a.address.is_affine(); };
    if (seen.pinned[across] && std::ranges::any_of(seen.accesses, at_index)) continue;
    int better = 0, worse = 0;
    for (const AccessRecord& a : seen.accesses) {
      const bool along = a.address.is_affine() && a.address.coefficient(dim).same(SymInt(1));
      const bool whole = a.address.is_affine() && a.address.coefficient(dim).same(SymInt(0));
      const bool side_by_side = a.address.coefficient(across).same(SymInt(1));
      if (a.store || whole) continue;
      if (side_by_side && !along) ++better;
      if (!side_by_side && !a.address.coefficient(across).same(SymInt(0))) ++worse;
    }
    if (better > worse) return k;
  }
  return std::nullopt;
}

size_t partial_bytes_of_row(const BuildContext& c, const ReduceRequest& r) {
  const bool several = r.domain[r.dim].same(SymInt(kReductionChunk));
  const size_t slots = several ? size_t{kStreams} * kStreamLanes : kExtremumLanes;
  size_t bytes = 0;
  for (prims::NodeId n : r.reduces)
    for (prims::ValueId v : c.values.graph.node(n).results)
      bytes += slots * std::max<size_t>(4, byte_size(c.values.graph.type(v).dtype));
  return bytes;
}

// The partial results of one row's lanes: of each of its streams, where it is read as several.
std::vector<Value> ReduceBuilder::walk_partial_results(std::vector<Combiner>& combiners,
                                                       const Indices& at) {
  const bool several = streams(combiners);
  const uint32_t each = several ? kStreamLanes : row_partials(),
                 count = several ? kStreams * each : each;
  const std::vector<Value> identity = identities(combiners);
  const Value lanes = b().i32(frame_.lanes());
  GroupMemory memory(b(), identity, count * frame_.lanes());
  const auto get = [&](Value slot) { return memory.get(b().mul(slot, lanes)); };
  const auto put = [&](Value slot, std::span<const Value> values) {
    memory.put(b().mul(slot, lanes), values);
  };
  const auto each_slot = [&](Value n, const std::function<void(Value)>& body) {
    b().for_loop(b().i32(0), n, b().i32(1), {}, [&](Value slot, auto) {
      ElementEmitter::Scope scope(emitter_);
      body(slot);
      return kir::Builder::Values{};
    });
  };
  each_slot(b().i32(count), [&](Value slot) { put(slot, identity); });
  const auto elements = [&](Value from, Value to, Value first_slot) {
    b().for_loop(from, to, constant(1), {}, [&](Value i, auto) {
      ElementEmitter::Scope scope(emitter_);
      if (!reduced_.empty()) reduced_[0].base = inside_.valid() ? constant(0) : i;
      set_loops();
      const Value turn = b().and_(b().int_resize(i, kir::Scalar::i32, true), b().i32(each - 1));
      const Value slot = b().add(first_slot, turn);
      put(slot, accumulate(combiners, at, get(slot)));
      return kir::Builder::Values{};
    });
  };
  across_ = true;
  const Value n = frame_.param(length_);
  if (several) {
    constexpr int64_t kPart = kReductionChunk / kStreams;
    each_slot(b().i32(kStreams), [&](Value stream) {
      const Value from = b().mul(index(stream), constant(kPart));
      elements(from, b().add(from, constant(kPart)), b().mul(stream, b().i32(each)));
    });
  } else {
    elements(constant(0), n, b().i32(0));
    // A row's last vector has lanes outside of it, to which nothing is added.
    const Value all = b().and_(b().add(n, constant(each - 1)), constant(-int64_t{each}));
    inside_ = b().constant({kir::Scalar::i1, frame_.lanes()}, 0);
    elements(n, all, b().i32(0));
    inside_ = {};
  }
  across_ = false;
  for (uint32_t half = count / 2; half > 0; half /= 2) {
    each_slot(b().i32(half), [&](Value slot) {
      put(slot, combine_all(combiners, get(slot), get(b().add(slot, b().i32(half)))));
    });
  }
  return get(b().i32(0));
}

// Results of the whole domain that lie along memory go there block by block.
void ReduceBuilder::store_across() {
  std::vector<LoopDim> loops = parallel_;
  loops.insert(loops.end() - 1, reduced_[0]);
  const Value rows = frame_.param(loops.back().size), side = constant(kBlockSide);
  const Value n = frame_.param(length_), mask = frame_.mask();
  b().for_loop(constant(0), n, side, {}, [&](Value first, auto) {
    Value end = b().add(first, side);
    end = b().select(b().slt(end, n), end, n);
    const BlockPlace place{first, end, loops.back().base, rows};
    b().for_loop(first, end, constant(1), {}, [&](Value i, auto) {
      ElementEmitter::Scope scope(emitter_);
      block_->in_row(loops, i, place, [&] { store_all(r_.domain_roots, domain_indices()); });
      return kir::Builder::Values{};
    });
    block_->write(loops, place, mask);
    return kir::Builder::Values{};
  });
}

}  // namespace primset::schedule
