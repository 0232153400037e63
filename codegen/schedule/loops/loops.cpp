#include "codegen/schedule/loops/loops.h"

#include <algorithm>
#include <limits>

namespace primset::schedule {

using kir::Value;

namespace {

constexpr uint16_t kLine = 16;  // elements of 32 bits in a cache line

}  // namespace

std::vector<LoopDim> separate_loops(const SymInts& domain, const std::vector<size_t>& order) {
  std::vector<LoopDim> out;
  for (size_t d : order) {
    if (!domain[d].same(SymInt(1))) out.push_back({{d}, domain[d], {}, false});
  }
  return out;
}

std::vector<LoopDim> merge_loops(const SymInts& domain, const std::vector<LoopDim>& loops,
                                 const Analysis& analysis) {
  auto mergeable = [&](size_t outer, size_t inner) {
    if (analysis.pinned[outer] || analysis.pinned[inner]) return false;
    return std::all_of(
        analysis.accesses.begin(), analysis.accesses.end(), [&](const AccessRecord& a) {
          return a.address.coefficient(outer).same(a.address.coefficient(inner) * domain[inner]);
        });
  };
  std::vector<LoopDim> out;
  for (const LoopDim& loop : loops) {
    if (!out.empty() && mergeable(out.back().dims.back(), loop.dims.front())) {
      LoopDim& last = out.back();
      last.dims.insert(last.dims.end(), loop.dims.begin(), loop.dims.end());
      last.size *= loop.size;
    } else {
      out.push_back(loop);
    }
  }
  return out;
}

std::vector<size_t> memory_order(const SymInts& domain, const SymInts& strides) {
  std::vector<size_t> order;
  // Insertion keeps equal strides in logical order; hints suffice, any order is correct.
  for (size_t d = 0; d < domain.size(); ++d) {
    size_t at = order.size();
    while (at > 0 && strides[order[at - 1]].hint() < strides[d].hint()) --at;
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(at), d);
  }
  return order;
}

void delinearize(Frame& f, Value linear, std::vector<LoopDim>& loops, size_t begin, size_t end) {
  kir::Builder& b = f.builder();
  for (size_t k = end; k-- > begin;) {
    if (k == begin) {
      loops[k].base = linear;
      break;
    }
    Value size = f.param(loops[k].size);
    Value rest = b.udiv(linear, size);
    loops[k].base = b.sub(linear, b.mul(rest, size));
    linear = rest;
  }
}

SymInt extent(const std::vector<LoopDim>& loops, size_t begin, size_t end) {
  SymInt n = 1;
  for (size_t k = begin; k < end; ++k) n *= loops[k].size;
  return n;
}

uint16_t cpu_lanes(const kir::TargetModel& target) {
  return target.simt ? uint16_t{1} : static_cast<uint16_t>(target.vector_bytes / 4);
}

uint16_t point_lanes(const kir::TargetModel& target) {
  return target.simt ? uint16_t{1} : std::max<uint16_t>(cpu_lanes(target), kLine);
}

void for_each_by_groups(Frame& f, const SymInt& items, const std::function<void(Value)>& body) {
  kir::Builder& b = f.builder();
  f.step().groups = {prims::min(items, SymInt(f.target().max_groups_x)), 1, 1};
  // Even a loop that runs once costs registers: its invariants stay live in it.
  const bool every_item_has_a_group =
      f.index_type() == kir::kI32 &&
      f.target().max_groups_x >= uint32_t{std::numeric_limits<int32_t>::max()};
  if (every_item_has_a_group) return body(f.index(b.group_id(0)));
  b.for_loop(f.index(b.group_id(0)), f.param(items), f.index(b.group_count(0)), {},
             [&](Value item, auto) {
               body(item);
               return kir::Builder::Values{};
             });
}

// Where masks are costly only the last vector has one (loop peeling).
void cpu_vectors(Frame& f, Value lo, Value hi, const std::function<void(Value)>& body) {
  kir::Builder& b = f.builder();
  const Value lanes = f.index_constant(f.lanes());
  const auto part = [&](Value from, Value to, bool masked) {
    b.for_loop(from, to, lanes, {}, [&](Value i, auto) {
      f.set_loop_rest(masked ? b.sub(hi, i) : Value{});
      body(i);
      return kir::Builder::Values{};
    });
    f.set_mask({});
  };
  if (f.lanes() == 1 || (!f.narrow_vectors() && f.lanes() <= 16))
    return part(lo, hi, f.lanes() > 1);
  const Value rest = b.and_(b.sub(hi, lo), f.index_constant(f.lanes() - 1));
  const Value whole = b.sub(hi, rest);
  part(lo, whole, false);
  part(whole, hi, true);
}

namespace {

Value smaller(kir::Builder& b, Value x, Value y) {
  return b.select(b.slt(x, y), x, y);
}

void simt_points(Frame& f, std::vector<LoopDim> loops, const std::function<void()>& body) {
  kir::Builder& b = f.builder();
  const uint32_t threads = f.target().group_threads;
  const SymInt total = extent(loops, 0, loops.size());
  b.set_group_size(threads);
  // The loop serves grids that the device's limit cuts short.
  f.step().groups = {prims::min(prims::ceil_div(total, threads), SymInt(f.target().max_groups_x)),
                     1, 1};
  Value t = f.index_constant(threads);
  Value first = b.add(b.mul(f.index(b.group_id(0)), t), f.index(b.local_id(0)));
  Value step = b.mul(f.index(b.group_count(0)), t);
  b.for_loop(first, f.param(total), step, {}, [&](Value i, auto) {
    delinearize(f, i, loops, 0, loops.size());
    f.set_loops(loops);
    body();
    return kir::Builder::Values{};
  });
}

// CPU: so many elements of a row take as long as what comes before its first one.
constexpr int64_t kRowStart = 32;

// Rows whose starts and points are the work of a group.
SymInt rows_of_group(const SymInt& points, int64_t group_points) {
  return prims::max(SymInt(1),
                    prims::floor_div(SymInt(group_points), prims::max(points, SymInt(kRowStart))));
}

// Runs body(item) for the items of this group, of which each has so many.
void for_each_of_group(Frame& f, const SymInt& items, const SymInt& per_group,
                       const std::function<void(Value)>& body) {
  kir::Builder& b = f.builder();
  f.step().groups = {prims::ceil_div(items, per_group), 1, 1};
  const Value first = b.mul(f.index(b.group_id(0)), f.param(per_group));
  const Value last = smaller(b, b.add(first, f.param(per_group)), f.param(items));
  b.for_loop(first, last, f.index_constant(1), {}, [&](Value item, auto) {
    body(item);
    return kir::Builder::Values{};
  });
}

int64_t points_of_group(const Frame& f, int64_t elements) {
  return std::max<int64_t>(1, f.tuning().loops.group_elements / elements);
}

// The last loop is divided into blocks. A work item is one block of one row; a group takes enough
// items to be worth its start.
void cpu_points(Frame& f, std::vector<LoopDim> loops, const std::function<void()>& body,
                int64_t group_points) {
  kir::Builder& b = f.builder();
  const size_t outer = loops.size() - 1;
  LoopDim& inner = loops.back();
  inner.lanes = true;
  const SymInt rows = extent(loops, 0, outer);
  const SymInt blocks = prims::ceil_div(inner.size, group_points);
  const SymInt items = rows * blocks;
  for_each_of_group(f, items, rows_of_group(inner.size, group_points), [&](Value item) {
    Value block = item;
    if (outer > 0) {
      const Value row = b.udiv(item, f.param(blocks));
      block = b.sub(item, b.mul(row, f.param(blocks)));
      delinearize(f, row, loops, 0, outer);
    }
    Value lo = b.mul(block, f.index_constant(group_points));
    Value hi = smaller(b, b.add(lo, f.index_constant(group_points)), f.param(inner.size));
    cpu_vectors(f, lo, hi, [&](Value i) {
      inner.base = i;
      f.set_loops(loops);
      body();
    });
  });
}

}  // namespace

void for_each_row(Frame& f, std::vector<LoopDim> loops, const SymInt& points, int64_t elements,
                  const std::function<void(const std::vector<LoopDim>&)>& body) {
  const SymInt rows = extent(loops, 0, loops.size());
  for_each_of_group(f, rows, rows_of_group(points, points_of_group(f, elements)), [&](Value row) {
    if (!loops.empty()) delinearize(f, row, loops, 0, loops.size());
    body(loops);
  });
}

void for_each_cpu_tile(Frame& f, std::vector<LoopDim>& loops, size_t tiled,
                       const std::function<void(const CpuTile&)>& body) {
  kir::Builder& b = f.builder();
  const auto across = loops.begin() + static_cast<std::ptrdiff_t>(tiled);
  std::rotate(across, across + 1, loops.end() - 1);
  const size_t outer = loops.size() - 2;
  const LoopDim &rows = loops[outer], &inner = loops.back();
  const int64_t side = f.tuning().loops.tile_side;
  const SymInt row_tiles = prims::ceil_div(rows.size, side),
               inner_tiles = prims::ceil_div(inner.size, side);
  const SymInt items = extent(loops, 0, outer) * row_tiles * inner_tiles;
  const Value tile = f.index_constant(side);
  auto range_end = [&](Value lo, const SymInt& size) {
    return smaller(b, b.add(lo, tile), f.param(size));
  };
  for_each_of_group(f, items, points_of_group(f, side * side), [&](Value item) {
    // Adjacent items go down the rows: each continues to read where the last one stopped.
    Value rest = b.udiv(item, f.param(row_tiles));
    Value row_lo = b.mul(b.sub(item, b.mul(rest, f.param(row_tiles))), tile);
    Value outside = b.udiv(rest, f.param(inner_tiles));
    Value lo = b.mul(b.sub(rest, b.mul(outside, f.param(inner_tiles))), tile);
    delinearize(f, outside, loops, 0, outer);
    body({row_lo, range_end(row_lo, rows.size), lo, range_end(lo, inner.size)});
  });
}

namespace {

void cpu_tiles(Frame& f, std::vector<LoopDim> loops, size_t tiled,
               const std::function<void()>& body) {
  kir::Builder& b = f.builder();
  for_each_cpu_tile(f, loops, tiled, [&](const CpuTile& tile) {
    LoopDim &rows = loops[loops.size() - 2], &inner = loops.back();
    inner.lanes = true;
    const auto point = [&](Value row, Value i) {
      rows.base = row;
      inner.base = i;
      f.set_loops(loops);
      body();
    };
    const auto each_row = [&](Value from, Value to, const std::function<void(Value)>& with) {
      b.for_loop(from, to, f.index_constant(1), {}, [&](Value row, auto) {
        with(row);
        return kir::Builder::Values{};
      });
    };
    if (f.lanes() >= kLine) {
      return each_row(tile.row, tile.row_end, [&](Value row) {
        cpu_vectors(f, tile.first, tile.end, [&](Value i) { point(row, i); });
      });
    }
    // Blocked once more, by cache lines: a block reads all of a line before it goes on. Rows that
    // are a power of two apart map to the same few cache sets, so a line would not stay for long.
    const Value line = f.index_constant(kLine);
    b.for_loop(tile.row, tile.row_end, line, {}, [&](Value first_row, auto) {
      const Value end = smaller(b, b.add(first_row, line), tile.row_end);
      cpu_vectors(f, tile.first, tile.end,
                  [&](Value i) { each_row(first_row, end, [&](Value row) { point(row, i); }); });
      return kir::Builder::Values{};
    });
  });
}

// Computes the vectors of all rows and then, one by one, the elements behind each row's last
// vector.
class VectorWalk {
 public:
  VectorWalk(Frame& f, std::vector<LoopDim> loops, const Vectorization& vectorization,
             Value aligned, const PointBody& body)
      : f_(f),
        b_(f.builder()),
        loops_(std::move(loops)),
        vectorization_(vectorization),
        body_(body) {
    const int64_t threads = f.target().group_threads;
    const SymInt rows = extent(loops_, 0, loops_.size() - 1), &row = loops_.back().size;
    b_.set_group_size(f.target().group_threads);
    f.step().groups = {prims::min(prims::ceil_div(rows * prims::ceil_div(row, vectorization.width),
                                                  threads * vectorization.unroll),
                                  SymInt(f.target().max_groups_x)),
                       1, 1};
    if (vectorization.resident_threads > 0) limit_grid(threads);
    threads_ = f.index_constant(threads);
    local_ = f.index(b_.local_id(0));
    group_ = f.index(b_.group_id(0));
    groups_ = f.index(b_.group_count(0));
    rows_ = f.param(rows);
    row_ = f.param(row);
    lanes_ = f.index_constant(vectorization.width);
    vectors_per_row_ = b_.select(aligned, b_.udiv(row_, lanes_), f.index_constant(0));
  }

  void run() {
    const Value none = f_.index_constant(0), in_vectors = b_.mul(vectors_per_row_, lanes_);
    f_.set_lanes(vectorization_.width);
    loops_.back().lanes = true;
    walk({vectors_per_row_, none, lanes_}, vectorization_.unroll);
    f_.set_lanes(1);
    loops_.back().lanes = false;
    // Where nothing is aligned these are all elements.
    constexpr uint16_t kMost = 4;
    const uint16_t unroll = vectorization_.unroll > 1 ? std::min(vectorization_.width, kMost) : 1;
    walk({b_.sub(row_, in_vectors), in_vectors, f_.index_constant(1)}, unroll);
  }

 private:
  void limit_grid(int64_t threads) {
    const int64_t resident = std::max<int64_t>(1, vectorization_.resident_threads / threads);
    b_.set_min_groups_per_multiprocessor(static_cast<uint32_t>(resident));
    SymInt& groups = f_.step().groups[0];
    groups = prims::min(
        groups, SymInt(f_.target().multiprocessors * resident * f_.tuning().loops.resident_waves));
  }

  // What a loop goes over: `per_row` items of `width` elements of each row, from `first` on.
  struct Items {
    Value per_row, first, width;
  };

  // Sets the loop variables to item `i`.
  void move_to(Value i, const Items& items) {
    if (loops_.size() > 1) {
      Value row = b_.udiv(i, items.per_row);
      i = b_.sub(i, b_.mul(row, items.per_row));
      delinearize(f_, row, loops_, 0, loops_.size() - 1);
    }
    loops_.back().base = b_.add(items.first, b_.mul(i, items.width));
    f_.set_loops(loops_);
  }

  void walk(const Items& items, uint16_t unroll) {
    const Value count = b_.mul(rows_, items.per_row);
    const Value done = unroll > 1 ? unrolled_loop(count, items, unroll) : f_.index_constant(0);
    const Value thread = b_.add(b_.mul(group_, threads_), local_);
    b_.for_loop(b_.add(done, thread), count, b_.mul(groups_, threads_), {}, [&](Value i, auto) {
      move_to(i, items);
      body_().run();
      return kir::Builder::Values{};
    });
  }

  // `unroll` items of each thread, all loaded before the first is stored. Only as many as fill
  // complete workgroups; returns how many items are done.
  Value unrolled_loop(Value count, const Items& items, uint16_t unroll) {
    const Value a_group = b_.mul(threads_, f_.index_constant(unroll));
    const Value whole = b_.udiv(count, a_group);
    b_.for_loop(group_, whole, groups_, {}, [&](Value g, auto) {
      const Value first = b_.add(b_.mul(g, a_group), local_);
      auto move = [&](uint16_t k) {
        move_to(b_.add(first, b_.mul(threads_, f_.index_constant(k))), items);
      };
      std::vector<PointPhases> points;
      for (uint16_t k = 0; k < unroll; ++k) move(k), points.push_back(body_()), points[k].load();
      for (uint16_t k = 0; k < unroll; ++k) move(k), points[k].compute();
      for (uint16_t k = 0; k < unroll; ++k) move(k), points[k].store();
      return kir::Builder::Values{};
    });
    return b_.mul(whole, a_group);
  }

  Frame& f_;
  kir::Builder& b_;
  std::vector<LoopDim> loops_;
  const Vectorization vectorization_;
  const PointBody& body_;
  Value threads_, local_, group_, groups_;
  Value rows_, row_, lanes_, vectors_per_row_;
};

}  // namespace

void for_each_vector(Frame& f, std::vector<LoopDim> loops, const Vectorization& vectorization,
                     Value aligned, const PointBody& body) {
  VectorWalk(f, std::move(loops), vectorization, aligned, body).run();
}

std::optional<size_t> transposed_loop(const std::vector<LoopDim>& loops, const Analysis& analysis) {
  if (loops.size() < 2) return std::nullopt;
  const size_t last = loops.back().dims.back();
  for (const AccessRecord& a : analysis.accesses) {
    const SymInt& step = a.address.coefficient(last);
    if (a.store || step.same(SymInt(0)) || step.same(SymInt(1))) continue;
    // Where an index says which line of memory it is, neighbours may be along its loop.
    const bool at_index = a.lanes == LaneAccess::strided && !a.address.is_affine();
    if (!at_index && !a.address.is_affine()) continue;
    for (size_t k = loops.size() - 1; k-- > 0;) {
      if (a.address.coefficient(loops[k].dims.back()).same(SymInt(at_index ? 0 : 1))) return k;
    }
  }
  return std::nullopt;
}

void for_each_point(Frame& f, std::vector<LoopDim> loops, const std::function<void()>& body,
                    std::optional<size_t> tiled, int64_t elements) {
  if (loops.empty()) loops.push_back({{}, 1, {}, false});
  if (f.target().simt)
    simt_points(f, std::move(loops), body);
  else if (tiled)
    cpu_tiles(f, std::move(loops), *tiled, body);
  else
    cpu_points(f, std::move(loops), body, points_of_group(f, elements));
}

}  // namespace primset::schedule
