// Loop nests: which dimensions of a domain are iterated as one, and the loops around a kernel's
// body.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LOOPS_LOOPS_H_
#define PRIMSET_CODEGEN_SCHEDULE_LOOPS_LOOPS_H_

#include <functional>
#include <optional>
#include <vector>

#include "codegen/schedule/element/element.h"
#include "codegen/schedule/loops/frame.h"
#include "codegen/schedule/loops/vectorization.h"
#include "codegen/schedule/tuning/summation_order.h"

namespace primset::schedule {

// One loop a dimension, in this order (outermost first); dimensions of size 1 are left out.
std::vector<LoopDim> separate_loops(const SymInts& domain, const std::vector<size_t>& order);

// Merges adjacent loops where every access is linear across them and neither is pinned.
std::vector<LoopDim> merge_loops(const SymInts& domain, const std::vector<LoopDim>& loops,
                                 const Analysis& analysis);

// The dimensions by decreasing stride: the memory order of what is written.
std::vector<size_t> memory_order(const SymInts& domain, const SymInts& strides);

// Delinearises a row-major index over loops [begin, end): sets their bases.
void delinearize(Frame& f, kir::Value linear, std::vector<LoopDim>& loops, size_t begin,
                 size_t end);
// The product of their sizes.
SymInt extent(const std::vector<LoopDim>& loops, size_t begin, size_t end);

// Number of lanes of the CPU's vectors for 32-bit elements; 1 on SIMT targets.
uint16_t cpu_lanes(const kir::TargetModel& target);
// Lanes of an iteration of for_each_point on a CPU: a cache line of elements, which may be several
// vectors.
uint16_t point_lanes(const kir::TargetModel& target);

// The loop along which some load is contiguous while it is strided along the last loop (a
// transposed operand). Tiling these two uses each cache line completely while it is in the cache.
std::optional<size_t> transposed_loop(const std::vector<LoopDim>& loops, const Analysis& analysis);

// A grid-stride loop over workgroups: runs `body` once for every item. Sets the grid of the frame's
// launch, within the device's limit.
void for_each_by_groups(Frame& f, const SymInt& items,
                        const std::function<void(kir::Value item)>& body);

// Calls body(i) for each vector of a CPU from lo to hi; the last one may be partial and has a mask.
void cpu_vectors(Frame& f, kir::Value lo, kir::Value hi,
                 const std::function<void(kir::Value)>& body);

// CPU: runs body(loops) once for every row: the loops outside of it, at its position. A row has
// `points` points, each of them the work of so many `elements`. Sets the grid of the frame's
// launch.
void for_each_row(Frame& f, std::vector<LoopDim> loops, const SymInt& points, int64_t elements,
                  const std::function<void(const std::vector<LoopDim>&)>& body);

// A part of two loops on a CPU: of the tiled one (rows) and of the last.
struct CpuTile {
  kir::Value row, row_end, first, end;
};
// Work items are tiles of the loop `tiled`, which becomes the last but one, and of the last; the
// other loops are outside. Sets the grid of the frame's launch.
void for_each_cpu_tile(Frame& f, std::vector<LoopDim>& loops, size_t tiled,
                       const std::function<void(const CpuTile&)>& body);

// Runs `body` once for every point of the nest: vectorised over the last loop on a CPU, a thread a
// point on a SIMT device. On a CPU the loop `tiled` and the last one are tiled. `elements`: the
// work of a point, in elements. Sets grid and workgroup size of the frame's launch.
void for_each_point(Frame& f, std::vector<LoopDim> loops, const std::function<void()>& body,
                    std::optional<size_t> tiled = std::nullopt, int64_t elements = 1);

// What there is to do for the elements of one position: each part once, at that position and in
// this order; load() may be left out.
struct PointPhases {
  // Issues loads that the elements will need: those of other positions are then in flight beside
  // them, also where computing takes branches, past which no compiler moves a load.
  std::function<void()> load;
  std::function<void()> compute, store;

  void run() const {
    compute();
    store();
  }
};
using PointBody = std::function<PointPhases()>;

// The same on a SIMT device with vectors: where `aligned` (i1) holds a thread computes vectors
// along the last loop, and single elements of the rest of each row.
void for_each_vector(Frame& f, std::vector<LoopDim> loops, const Vectorization& vectorization,
                     kir::Value aligned, const PointBody& body);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LOOPS_LOOPS_H_
