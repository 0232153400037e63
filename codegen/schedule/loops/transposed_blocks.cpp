#include "codegen/schedule/loops/transposed_blocks.h"

#include <algorithm>
#include <utility>

#include "codegen/schedule/element/scalar_lowering.h"
#include "codegen/schedule/loops/lane_transpose.h"

namespace primset::schedule {

using kir::Value;

namespace {

constexpr int64_t kLeastLoop = kBlockSide / 2;
constexpr size_t kMostBytes = 1 << 14;  // of all blocks: half of the first-level cache

bool lies_transposed(const AccessRecord& a, size_t along, size_t lanes) {
  const SymInt& step = a.address.coefficient(lanes);
  return !a.masked && a.address.is_affine() && !step.same(SymInt(0)) && !step.same(SymInt(1)) &&
         a.address.coefficient(along).same(SymInt(1));
}

// A vector of an element's parts in memory, by type.
std::vector<Value> parts_like(kir::Builder& b, DType dtype) {
  const kir::Type t{memory_scalar(real_type(dtype)), kBlockSide};
  return std::vector<Value>(is_complex(dtype) ? 2 : 1, b.constant(t, 0));
}

Value slot_of(kir::Builder& b, Value row) {
  return b.mul(b.int_resize(row, kir::Scalar::i32, true), b.i32(kBlockSide));
}

}  // namespace

std::vector<AccessRecord> transposed_accesses(const Analysis& seen, size_t along, size_t lanes) {
  std::vector<AccessRecord> out;
  size_t bytes = 0;
  for (const AccessRecord& a : seen.accesses) {
    if (!lies_transposed(a, along, lanes)) continue;
    const auto is_same = [&](const AccessRecord& s) {
      return s.store == a.store && same_access(s, a);
    };
    if (std::ranges::any_of(out, is_same)) continue;
    bytes += byte_size(a.dtype) * kBlockSide * kBlockSide;
    if (bytes > kMostBytes) break;
    out.push_back(a);
  }
  return out;
}

TransposedBlock::TransposedBlock(Frame& f, std::vector<AccessRecord> staged)
    : f_(f), staged_(std::move(staged)) {
  kir::Builder& b = f.builder();
  for (const AccessRecord& a : staged_) {
    const std::vector<Value> none = parts_like(b, a.dtype);
    memory_.emplace_back(b, none, uint32_t{kBlockSide} * kBlockSide);
    // A block with fewer rows is transposed too, and its other rows are not looked at.
    for (int64_t r = 0; a.store && r < kBlockSide; ++r)
      memory_.back().put(b.i32(r * kBlockSide), none);
  }
}

GroupMemory* TransposedBlock::memory_of(const AccessRecord& a) {
  for (size_t k = 0; k < staged_.size(); ++k)
    if (staged_[k].store == a.store && same_access(staged_[k], a)) return &memory_[k];
  return nullptr;
}

void TransposedBlock::along_rows(std::vector<LoopDim> loops, const BlockPlace& place,
                                 const std::function<void(std::vector<LoopDim>&)>& body) {
  kir::Builder& b = f_.builder();
  LoopDim& rows = loops[loops.size() - 2];
  const Value outer = f_.mask();
  f_.set_prefetches(false);
  rows.lanes = true;
  loops.back().lanes = false;
  rows.base = place.row;
  f_.set_mask(b.active_lane_mask(b.sub(place.row_end, place.row), kBlockSide));
  body(loops);
  f_.set_prefetches(true);
  f_.set_mask(outer);
}

// Behind the lanes' end the last one is read again.
void TransposedBlock::read(std::vector<LoopDim> loops, const BlockPlace& place) {
  kir::Builder& b = f_.builder();
  along_rows(std::move(loops), place, [&](std::vector<LoopDim>& nest) {
    for (size_t n = 0; n < staged_.size(); ++n) {
      if (staged_[n].store) continue;
      std::vector<std::vector<Value>> parts(is_complex(staged_[n].dtype) ? 2 : 1);
      for (int64_t k = 0; k < kBlockSide; ++k) {
        const Value at = b.add(place.first, f_.index_constant(k));
        const Value last = b.sub(place.end, f_.index_constant(1));
        nest.back().base = b.select(b.slt(at, last), at, last);
        f_.set_loops(nest);
        const std::vector<Value> of_lane = f_.fetch(staged_[n]);
        for (size_t p = 0; p < parts.size(); ++p) parts[p].push_back(of_lane[p]);
      }
      for (std::vector<Value>& p : parts) p = transposed(b, std::move(p));
      for (uint16_t r = 0; r < kBlockSide; ++r) {
        std::vector<Value> row;
        for (const std::vector<Value>& p : parts) row.push_back(p[r]);
        memory_[n].put(b.i32(int64_t{r} * kBlockSide), row);
      }
    }
  });
}

void TransposedBlock::in_row(std::vector<LoopDim> loops, Value r, const BlockPlace& place,
                             const std::function<void()>& body) {
  kir::Builder& b = f_.builder();
  loops[loops.size() - 2].base = r;
  loops.back().base = place.first;
  f_.set_loops(std::move(loops));
  const Value slot = slot_of(b, b.sub(r, place.row));
  f_.set_forward_load([this, slot](const AccessRecord& a) {
    GroupMemory* m = memory_of(a);
    return m != nullptr ? m->get(slot) : std::vector<Value>{};
  });
  f_.set_forward_store([this, slot](const AccessRecord& a, std::vector<Value> element) {
    GroupMemory* m = memory_of(a);
    if (m == nullptr) return false;
    for (Value& v : element)
      if (f_.builder().type(v).lanes == 1) v = f_.builder().splat(v, kBlockSide);
    m->put(slot, element);
    return true;
  });
  body();
  f_.set_forward_load({});
  f_.set_forward_store({});
}

void TransposedBlock::write(std::vector<LoopDim> loops, const BlockPlace& place, Value mask) {
  kir::Builder& b = f_.builder();
  along_rows(std::move(loops), place, [&](std::vector<LoopDim>& nest) {
    for (size_t n = 0; n < staged_.size(); ++n) {
      if (!staged_[n].store) continue;
      std::vector<std::vector<Value>> parts(is_complex(staged_[n].dtype) ? 2 : 1);
      for (int64_t r = 0; r < kBlockSide; ++r) {
        const std::vector<Value> row = memory_[n].get(b.i32(r * kBlockSide));
        for (size_t p = 0; p < parts.size(); ++p) parts[p].push_back(row[p]);
      }
      for (std::vector<Value>& p : parts) p = transposed(b, std::move(p));
      for (uint16_t k = 0; k < kBlockSide; ++k) {
        std::vector<Value> element;
        for (const std::vector<Value>& p : parts) element.push_back(p[k]);
        nest.back().base = b.add(place.first, f_.index_constant(k));
        f_.set_loops(nest);
        if (mask.valid())
          b.if_then(b.extract(mask, k), [&] { f_.put(staged_[n], element); });
        else
          f_.put(staged_[n], element);
      }
    }
  });
}

std::optional<BlockPlan> transposed_blocks(const Analysis& seen,
                                           const std::vector<LoopDim>& loops) {
  const auto across = transposed_loop(loops, seen);
  if (!across || std::min(loops.back().size.hint(), loops[*across].size.hint()) < kLeastLoop)
    return std::nullopt;
  BlockPlan plan{*across,
                 transposed_accesses(seen, loops[*across].dims.back(), loops.back().dims.back())};
  std::erase_if(plan.staged, [](const AccessRecord& a) { return a.store; });
  if (plan.staged.empty()) return std::nullopt;
  return plan;
}

void for_each_in_blocks(Frame& f, std::vector<LoopDim> loops, const BlockPlan& plan,
                        const std::function<void()>& body) {
  kir::Builder& b = f.builder();
  f.set_lanes(kBlockSide);
  TransposedBlock block(f, plan.staged);
  for_each_cpu_tile(f, loops, plan.across, [&](const CpuTile& tile) {
    const Value side = f.index_constant(kBlockSide);
    loops.back().lanes = true;
    b.for_loop(tile.row, tile.row_end, side, {}, [&](Value row, auto) {
      Value end = b.add(row, side);
      end = b.select(b.slt(end, tile.row_end), end, tile.row_end);
      cpu_vectors(f, tile.first, tile.end, [&](Value i) {
        const BlockPlace place{row, end, i, tile.end};
        block.read(loops, place);
        b.for_loop(row, end, f.index_constant(1), {}, [&](Value r, auto) {
          block.in_row(loops, r, place, body);
          return kir::Builder::Values{};
        });
      });
      return kir::Builder::Values{};
    });
  });
}

}  // namespace primset::schedule
