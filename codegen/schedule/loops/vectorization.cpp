#include "codegen/schedule/loops/vectorization.h"

#include <algorithm>

#include "codegen/schedule/loops/loops.h"

namespace primset::schedule {

using kir::Value;

namespace {

// Instructions of a loop body: those repeated for each lane, and those done once for all.
struct Work {
  size_t each_lane = 1, all_lanes = 0;
  bool has_loops = false;  // of its own
  int64_t of(size_t lanes) const { return static_cast<int64_t>(each_lane * lanes + all_lanes); }
};

Work work_of(const kir::Kernel& probe) {
  Work work;
  size_t loops = 0;
  auto vector = [&](Value v) { return probe.type(v).is_vector(); };
  for (const kir::Inst& inst : probe.insts) {
    loops += inst.op == kir::Op::For || inst.op == kir::Op::While ? 1 : 0;
    if (kir::info(inst.op).group == kir::Group::Leaf) continue;
    const bool lanes =
        std::ranges::any_of(inst.results, vector) || std::ranges::any_of(inst.operands, vector);
    ++(lanes ? work.each_lane : work.all_lanes);
  }
  work.has_loops = loops > 1;
  return work;
}

// Elements at a stride make one access for each lane, in which the threads of a warp have little
// more than one row where rows are long. Of short ones they have many, which may be neighbours.
// Short are those that would fill less than half of a tile's.
bool takes_vectors(const Analysis& seen, const std::vector<LoopDim>& loops, const Tuning& tuning) {
  const bool rows_together = transposed_loop(loops, seen).has_value() &&
                             2 * loops.back().size.hint() < tuning.transpose.short_side;
  bool stores = false;
  for (const AccessRecord& a : seen.accesses) {
    if (a.lanes_masked || (a.lanes == LaneAccess::strided && !rows_together)) return false;
    if (a.store && a.lanes != LaneAccess::contiguous) return false;
    stores |= a.store;
  }
  return stores;
}

uint32_t vector_bytes(const AccessRecord& a, uint16_t lanes) {
  return std::min(kVectorBytes, static_cast<uint32_t>(byte_size(a.dtype)) * lanes);
}

// The strides and offset of a contiguous access, in elements. Its vectors are aligned where all of
// them are multiples of the vector width.
SymInts distances(const AccessRecord& a, const std::vector<LoopDim>& loops) {
  SymInts out{a.address.constant};
  for (size_t k = 0; k + 1 < loops.size(); ++k)
    out.push_back(a.address.coefficient(loops[k].dims.back()));
  if (a.address.is_affine()) return out;
  if (a.address.opaque_steps.empty()) out.emplace_back(1);
  out.insert(out.end(), a.address.opaque_steps.begin(), a.address.opaque_steps.end());
  return out;
}

uint32_t vector_elements(const AccessRecord& a, uint16_t lanes) {
  return vector_bytes(a, lanes) / static_cast<uint32_t>(byte_size(a.dtype));
}

// False where some vector is never aligned, whatever the sizes are.
bool may_align(const Analysis& seen, const std::vector<LoopDim>& loops, uint16_t lanes) {
  return std::ranges::all_of(seen.accesses, [&](const AccessRecord& a) {
    if (a.lanes != LaneAccess::contiguous) return true;
    return std::ranges::all_of(distances(a, loops), [&](const SymInt& d) {
      return !d.is_constant() || d.constant() % vector_elements(a, lanes) == 0;
    });
  });
}

}  // namespace

Vectorization choose_vectorization(const kir::Kernel& probe, const Analysis& seen,
                                   const std::vector<LoopDim>& loops, const Tuning& tuning) {
  if (loops.empty() || !takes_vectors(seen, loops, tuning)) return {};
  const Work work = work_of(probe);
  size_t widest = 1, loaded = 0;
  for (const AccessRecord& a : seen.accesses) {
    if (a.lanes == LaneAccess::contiguous) widest = std::max(widest, byte_size(a.dtype));
    if (!a.store) loaded += a.lanes == LaneAccess::same ? 0 : byte_size(a.dtype);
  }
  // A loop goes on until the last lane is done: each lane more makes the others wait.
  size_t lanes = std::min<size_t>(kVectorBytes / widest, work.has_loops ? 4 : kVectorBytes);
  const int64_t row = loops.back().size.hint();
  while (lanes > 1 &&
         (work.of(lanes) > tuning.vectors.longest_body || static_cast<int64_t>(lanes) > row))
    lanes /= 2;
  while (lanes > 1 && !may_align(seen, loops, static_cast<uint16_t>(lanes))) lanes /= 2;
  Vectorization vectorization;
  if (lanes < 2) return vectorization;
  vectorization.width = static_cast<uint16_t>(lanes);
  if (work.of(lanes) > tuning.vectors.long_body)
    vectorization.resident_threads = tuning.loops.resident_threads / 2;
  else if (work.of(lanes) > tuning.vectors.short_body)
    vectorization.resident_threads = tuning.loops.resident_threads;
  const auto in_flight = static_cast<int64_t>(loaded * lanes);
  if (in_flight < tuning.vectors.bytes_in_flight && vectorization.resident_threads == 0 &&
      !work.has_loops)
    vectorization.unroll = 2;
  return vectorization;
}

Value vectors_align(Frame& f, const Analysis& seen, const std::vector<LoopDim>& loops,
                    uint16_t lanes) {
  kir::Builder& b = f.builder();
  if (!may_align(seen, loops, lanes)) return b.i1(false);
  Value rest = b.i32(0);
  for (const AccessRecord& a : seen.accesses) {
    if (a.lanes != LaneAccess::contiguous) continue;
    const Value address = b.address_low_word(f.buffer(a.buffer, !a.store, a.store));
    rest = b.or_(rest, b.and_(address, b.i32(vector_bytes(a, lanes) - 1)));
    for (const SymInt& d : distances(a, loops)) {
      if (d.is_constant()) continue;
      const Value elements = b.int_resize(f.param(d), kir::Scalar::i32, true);
      rest = b.or_(rest, b.and_(elements, b.i32(vector_elements(a, lanes) - 1)));
    }
  }
  return b.ieq(rest, b.i32(0));
}

}  // namespace primset::schedule
