#include "codegen/schedule/vector_form.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace primset::schedule {

using kir::Value;

namespace {

// A body repeated for every lane: beyond so many instructions a thread, compilers take long and
// registers get few.
constexpr size_t kMostWork = 512;
// Bytes that a thread should be waiting for, and how long a body may be for more than one vector.
constexpr uint32_t kBytesInFlight = 32;
constexpr size_t kShortWork = 256;

// Instructions that a lane costs; none when the body has loops of its own.
std::optional<size_t> work(const kir::Kernel& probe) {
  size_t instructions = 1, loops = 0;
  for (const kir::Inst& inst : probe.insts) {
    loops += inst.op == kir::Op::For || inst.op == kir::Op::While ? 1 : 0;
    instructions += kir::info(inst.op).group != kir::Group::Leaf ? 1 : 0;
  }
  if (loops > 1) return std::nullopt;
  return instructions;
}

bool takes_vectors(const Analysis& seen) {
  bool stores = false;
  for (const AccessRecord& a : seen.accesses) {
    if (a.lanes_masked || a.lanes == LaneAccess::strided) return false;
    if (a.store && a.lanes != LaneAccess::neighbours) return false;
    stores |= a.store;
  }
  return stores;
}

uint32_t vector_bytes(const AccessRecord& a, uint16_t lanes) {
  return std::min(kVectorBytes, a.bytes * lanes);
}

}  // namespace

VectorForm vector_form(const kir::Kernel& probe, const Analysis& seen,
                       const std::vector<LoopDim>& loops) {
  const auto instructions = work(probe);
  if (loops.empty() || !instructions || !takes_vectors(seen)) return {};
  uint32_t widest = 1, loaded = 0;
  for (const AccessRecord& a : seen.accesses) {
    if (a.lanes == LaneAccess::neighbours) widest = std::max(widest, a.bytes);
    if (!a.store) loaded += a.lanes == LaneAccess::same ? 0 : a.bytes;
  }
  size_t lanes = kVectorBytes / widest;
  lanes = std::min(lanes, std::bit_floor(kMostWork / *instructions));
  lanes = std::min(
      lanes, std::bit_floor(static_cast<size_t>(std::max<int64_t>(1, loops.back().size.hint()))));
  VectorForm form;
  if (lanes < 2) return form;
  form.lanes = static_cast<uint16_t>(lanes);
  if (loaded * lanes < kBytesInFlight && 2 * lanes * *instructions <= kShortWork) form.at_once = 2;
  return form;
}

Value vectors_align(Frame& f, const Analysis& seen, const std::vector<LoopDim>& loops,
                    uint16_t lanes) {
  kir::Builder& b = f.builder();
  Value rest = b.i32(0);
  bool never = false;
  // Counted in elements, except for the pointer: `unit` of them make a vector.
  auto multiple = [&](const SymInt& count, uint32_t unit) {
    if (!count.is_constant()) {
      Value v = b.int_resize(f.param(count), kir::Scalar::i32, true);
      rest = b.or_(rest, b.and_(v, b.i32(unit - 1)));
    } else if (count.constant() % unit != 0) {
      never = true;
    }
  };
  for (const AccessRecord& a : seen.accesses) {
    if (a.lanes != LaneAccess::neighbours) continue;
    const uint32_t bytes = vector_bytes(a, lanes);
    Value address = b.ptr_to_int(f.buffer(a.buffer, !a.store, a.store));
    rest = b.or_(rest, b.and_(b.trunc(address, kir::Scalar::i32), b.i32(bytes - 1)));
    const uint32_t unit = bytes / a.bytes;
    multiple(a.address.constant, unit);
    for (size_t k = 0; k + 1 < loops.size(); ++k)
      multiple(a.address.coefficient(loops[k].dims.back()), unit);
    if (a.address.is_affine()) continue;
    if (a.address.opaque_steps.empty()) multiple(1, unit);
    for (const SymInt& step : a.address.opaque_steps) multiple(step, unit);
  }
  return never ? b.i1(false) : b.ieq(rest, b.i32(0));
}

}  // namespace primset::schedule
