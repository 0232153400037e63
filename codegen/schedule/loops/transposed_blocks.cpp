#include "codegen/schedule/loops/transposed_blocks.h"

#include <algorithm>
#include <utility>

#include "codegen/schedule/loops/group_memory.h"
#include "codegen/schedule/loops/lane_transpose.h"

namespace primset::schedule {

using kir::Value;

namespace {

constexpr uint16_t kSide = 16;          // of a block: a cache line of 32-bit elements
constexpr int64_t kLeastLoop = 8;       // half of it
constexpr size_t kMostBytes = 1 << 15;  // of all blocks: the first-level cache's

class BlockWalk {
 public:
  BlockWalk(Frame& f, std::vector<LoopDim> loops, const BlockPlan& plan,
            const std::function<void()>& body)
      : f_(f), b_(f.builder()), loops_(std::move(loops)), plan_(plan), body_(body) {}

  void run() {
    f_.set_lanes(kSide);
    for_each_cpu_tile(f_, loops_, plan_.across, [&](const CpuTile& tile) {
      const Value side = constant(kSide);
      b_.for_loop(tile.row, tile.row_end, side, {}, [&](Value row, auto) {
        const Value end = smaller(b_.add(row, side), tile.row_end);
        last().lanes = true;
        cpu_vectors(f_, tile.first, tile.end, [&](Value i) {
          const Value mask = f_.mask();
          read(row, end, i, tile.end);
          f_.set_mask(mask);
          compute(row, end, i);
        });
        return kir::Builder::Values{};
      });
    });
  }

 private:
  LoopDim& across() { return loops_[loops_.size() - 2]; }
  LoopDim& last() { return loops_.back(); }
  Value constant(int64_t v) { return f_.index_constant(v); }
  Value smaller(Value x, Value y) { return b_.select(b_.slt(x, y), x, y); }

  // The block at (row, first). Behind the last loop's end its last element is read again.
  void read(Value row, Value row_end, Value first, Value end) {
    f_.set_prefetches(false);
    across().lanes = true;
    last().lanes = false;
    across().base = row;
    f_.set_mask(b_.active_lane_mask(b_.sub(row_end, row), kSide));
    std::vector<std::vector<std::vector<Value>>> parts(plan_.staged.size());  // [load][part][row]
    for (int64_t k = 0; k < kSide; ++k) {
      last().base = smaller(b_.add(first, constant(k)), b_.sub(end, constant(1)));
      f_.set_loops(loops_);
      for (size_t n = 0; n < parts.size(); ++n) {
        const std::vector<Value> of_row = f_.fetch(plan_.staged[n]);
        parts[n].resize(of_row.size());
        for (size_t p = 0; p < of_row.size(); ++p) parts[n][p].push_back(of_row[p]);
      }
    }
    across().lanes = false;
    last().lanes = true;
    f_.set_prefetches(true);
    for (size_t n = 0; n < parts.size(); ++n) put(n, std::move(parts[n]));
  }

  void put(size_t n, std::vector<std::vector<Value>> parts) {
    for (std::vector<Value>& rows : parts) rows = transposed(b_, std::move(rows));
    for (uint16_t r = 0; r < kSide; ++r) {
      std::vector<Value> row;
      for (const auto& rows : parts) row.push_back(rows[r]);
      if (memory_.size() == n) memory_.emplace_back(b_, row, uint32_t{kSide} * kSide);
      memory_[n].put(b_.i32(int64_t{r} * kSide), row);
    }
  }

  void compute(Value row, Value end, Value first) {
    b_.for_loop(row, end, constant(1), {}, [&](Value r, auto) {
      across().base = r;
      last().base = first;
      f_.set_loops(loops_);
      const Value at =
          b_.int_resize(b_.mul(b_.sub(r, row), constant(kSide)), kir::Scalar::i32, true);
      f_.set_forward_load([&](const AccessRecord& a) { return staged(a, at); });
      body_();
      f_.set_forward_load({});
      return kir::Builder::Values{};
    });
  }

  std::vector<Value> staged(const AccessRecord& a, Value at) {
    for (size_t k = 0; k < plan_.staged.size(); ++k) {
      if (same_access(plan_.staged[k], a)) return memory_[k].get(at);
    }
    return {};
  }

  Frame& f_;
  kir::Builder& b_;
  std::vector<LoopDim> loops_;
  const BlockPlan& plan_;
  const std::function<void()>& body_;
  std::vector<GroupMemory> memory_;  // one a staged load
};

bool lies_transposed(const AccessRecord& a, size_t last, size_t across) {
  const SymInt& step = a.address.coefficient(last);
  return !a.store && !a.masked && a.address.is_affine() && !step.same(SymInt(0)) &&
         !step.same(SymInt(1)) && a.address.coefficient(across).same(SymInt(1));
}

}  // namespace

std::optional<BlockPlan> transposed_blocks(const Analysis& seen,
                                           const std::vector<LoopDim>& loops) {
  const auto across = transposed_loop(loops, seen);
  if (!across || std::min(loops.back().size.hint(), loops[*across].size.hint()) < kLeastLoop)
    return std::nullopt;
  BlockPlan plan{*across, {}};
  size_t bytes = 0;
  for (const AccessRecord& a : seen.accesses) {
    if (!lies_transposed(a, loops.back().dims.back(), loops[*across].dims.back())) continue;
    if (std::ranges::any_of(plan.staged, [&](const auto& s) { return same_access(s, a); }))
      continue;
    bytes += byte_size(a.dtype) * kSide * kSide;
    if (bytes > kMostBytes) break;
    plan.staged.push_back(a);
  }
  if (plan.staged.empty()) return std::nullopt;
  return plan;
}

void for_each_in_blocks(Frame& f, std::vector<LoopDim> loops, const BlockPlan& plan,
                        const std::function<void()>& body) {
  BlockWalk(f, std::move(loops), plan, body).run();
}

}  // namespace primset::schedule
