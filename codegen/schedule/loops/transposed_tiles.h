// Transposed operands on SIMT devices: a workgroup reads a tile along the operand's rows,
// transposes it through workgroup memory, and writes it along the result's rows.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LOOPS_TRANSPOSED_TILES_H_
#define PRIMSET_CODEGEN_SCHEDULE_LOOPS_TRANSPOSED_TILES_H_

#include <optional>
#include <vector>

#include "codegen/schedule/loops/frame.h"
#include "codegen/schedule/loops/loops.h"

namespace primset::schedule {

struct TilePlan {
  size_t across = 0;                 // the loop along which the operands are contiguous
  int64_t side = 0;                  // of a tile, in elements
  std::vector<AccessRecord> staged;  // the loads that go through the workgroup's memory
};

// nullopt: no operand is transposed, the result is not contiguous along the last loop, or some
// access is masked.
std::optional<TilePlan> transposed_tiles(const Machine& machine, const Analysis& seen,
                                         const std::vector<LoopDim>& loops);

void for_each_in_tiles(Frame& f, std::vector<LoopDim> loops, const TilePlan& plan,
                       const PointBody& body);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LOOPS_TRANSPOSED_TILES_H_
