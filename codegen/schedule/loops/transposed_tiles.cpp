#include "codegen/schedule/loops/transposed_tiles.h"

#include <algorithm>
#include <utility>

#include "codegen/schedule/loops/group_memory.h"

namespace primset::schedule {

using kir::Value;

namespace {

// Rows of a tile that the workgroup loads at once. A thread issues the loads of its other rows
// before it waits for any.
int64_t rows_at_once(const kir::TargetModel& target, const Tuning& tuning, int64_t side) {
  return std::min(tuning.transpose.rows_in_flight,
                  static_cast<int64_t>(target.max_group_threads) / side);
}

bool is_staged(const AccessRecord& a, size_t last, size_t across) {
  const SymInt& step = a.address.coefficient(last);
  return !a.store && a.address.is_affine() && !step.same(SymInt(0)) && !step.same(SymInt(1)) &&
         a.address.coefficient(across).same(SymInt(1));
}

class TileWalk {
 public:
  TileWalk(Frame& f, std::vector<LoopDim> loops, const TilePlan& plan, const PointBody& body)
      : f_(f), b_(f.builder()), loops_(std::move(loops)), plan_(plan), body_(body) {
    const auto across = loops_.begin() + static_cast<std::ptrdiff_t>(plan.across);
    std::rotate(across, across + 1, loops_.end() - 1);
    rows_ = rows_at_once(f.target(), f.tuning(), plan.side);
    b_.set_group_size(static_cast<uint32_t>(rows_ * plan.side));
    const Value local = f_.index(b_.local_id(0)), side = constant(plan.side);
    y_ = b_.udiv(local, side);
    x_ = b_.sub(local, b_.mul(y_, side));
  }

  void run() {
    LoopDim &across = loops_[loops_.size() - 2], &last = loops_.back();
    const SymInt across_tiles = prims::ceil_div(across.size, plan_.side),
                 last_tiles = prims::ceil_div(last.size, plan_.side);
    const SymInt tiles = extent(loops_, 0, loops_.size() - 2) * across_tiles * last_tiles;
    for_each_by_groups(f_, tiles, [&](Value tile) {
      const Value rest = b_.udiv(tile, f_.param(last_tiles));
      const Value outside = b_.udiv(rest, f_.param(across_tiles));
      delinearize(f_, outside, loops_, 0, loops_.size() - 2);
      first_last_ = first(tile, rest, last_tiles);
      first_across_ = first(rest, outside, across_tiles);
      read();
      b_.barrier();
      write();
      b_.barrier();  // the memory is used again by the next tile
    });
  }

 private:
  Value constant(int64_t v) { return f_.index_constant(v); }
  // Where tile `i - outer * count` of a loop begins.
  Value first(Value i, Value outer, const SymInt& count) {
    return b_.mul(b_.sub(i, b_.mul(outer, f_.param(count))), constant(plan_.side));
  }
  Value within(Value i, const SymInt& size) {
    const Value end = b_.sub(f_.param(size), constant(1));
    return b_.select(b_.slt(i, end), i, end);
  }
  Value slot(Value row, Value column) {
    // Padded by one column: adjacent elements of a column lie in different banks.
    const Value at = b_.add(b_.mul(row, constant(plan_.side + 1)), column);
    return b_.int_resize(at, kir::Scalar::i32, true);
  }
  Value row(Value pass) { return b_.add(y_, b_.mul(pass, constant(rows_))); }
  int64_t passes() const { return plan_.side / rows_; }

  // Adjacent threads load adjacent elements of the operands. Outside the domain the last element is
  // loaded again, so that no load waits for a branch.
  void read() {
    LoopDim &across = loops_[loops_.size() - 2], &last = loops_.back();
    std::vector<std::vector<Value>> values;
    for (int64_t p = 0; p < passes(); ++p) {
      across.base = within(b_.add(first_across_, x_), across.size);
      last.base = within(b_.add(first_last_, row(constant(p))), last.size);
      f_.set_loops(loops_);
      for (const AccessRecord& a : plan_.staged) values.push_back(f_.fetch(a));
    }
    const size_t n = plan_.staged.size();
    if (memory_.empty()) {
      for (size_t k = 0; k < n; ++k)
        memory_.emplace_back(b_, values[k], static_cast<uint32_t>(plan_.side * (plan_.side + 1)));
    }
    for (size_t i = 0; i < values.size(); ++i)
      memory_[i % n].put(slot(row(constant(static_cast<int64_t>(i / n))), x_), values[i]);
  }

  void write() {
    LoopDim &across = loops_[loops_.size() - 2], &last = loops_.back();
    b_.for_loop(constant(0), constant(passes()), constant(1), {}, [&](Value pass, auto) {
      const Value at_row = row(pass);
      across.base = b_.add(first_across_, at_row);
      last.base = b_.add(first_last_, x_);
      f_.set_loops(loops_);
      const Value inside = b_.and_(b_.slt(across.base, f_.param(across.size)),
                                   b_.slt(last.base, f_.param(last.size)));
      b_.if_then(inside, [&] {
        const Value at = slot(x_, at_row);
        f_.set_forward_load([&](const AccessRecord& a) { return staged(a, at); });
        body_().run();
        f_.set_forward_load({});
      });
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
  const TilePlan& plan_;
  const PointBody& body_;
  int64_t rows_;  // of a tile that the group handles at once
  Value x_, y_, first_across_, first_last_;
  std::vector<GroupMemory> memory_;  // one a staged load
};

}  // namespace

std::optional<TilePlan> transposed_tiles(const Machine& machine, const Analysis& seen,
                                         const std::vector<LoopDim>& loops) {
  const Tuning& tuning = machine.tuning;
  const auto across = transposed_loop(loops, seen);
  if (!across ||
      std::min(loops.back().size.hint(), loops[*across].size.hint()) < tuning.transpose.least_loop)
    return std::nullopt;
  TilePlan plan{*across, tuning.transpose.short_side, {}};
  size_t bytes = 0, narrowest = 16;
  for (const AccessRecord& a : seen.accesses) {
    if (a.masked || (a.store && a.lanes != LaneAccess::contiguous)) return std::nullopt;
    if (!is_staged(a, loops.back().dims.back(), loops[*across].dims.back())) continue;
    if (std::ranges::any_of(plan.staged, [&](const auto& s) { return same_access(s, a); }))
      continue;
    plan.staged.push_back(a);
    bytes += byte_size(a.dtype);
    narrowest = std::min(narrowest, byte_size(a.dtype));
  }
  if (narrowest <= 2) plan.side = tuning.transpose.long_side;
  const auto fits = [&] {
    return rows_at_once(machine.target, tuning, plan.side) >= 1 &&
           plan.side * (plan.side + 1) * static_cast<int64_t>(bytes) <=
               static_cast<int64_t>(machine.target.group_memory / 2);
  };
  if (!fits()) plan.side = tuning.transpose.short_side;
  if (plan.staged.empty() || !fits()) return std::nullopt;
  return plan;
}

void for_each_in_tiles(Frame& f, std::vector<LoopDim> loops, const TilePlan& plan,
                       const PointBody& body) {
  TileWalk(f, std::move(loops), plan, body).run();
}

}  // namespace primset::schedule
