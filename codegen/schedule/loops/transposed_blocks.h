// Transposed operands on a CPU: blocks of them are read along their own rows and transposed in
// registers, so that each cache line is read once. Elements that are gathered one by one come from
// as many lines as a vector has lanes, and lines that are a power of two apart do not stay in the
// cache together.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LOOPS_TRANSPOSED_BLOCKS_H_
#define PRIMSET_CODEGEN_SCHEDULE_LOOPS_TRANSPOSED_BLOCKS_H_

#include <functional>
#include <optional>
#include <vector>

#include "codegen/schedule/loops/frame.h"
#include "codegen/schedule/loops/loops.h"

namespace primset::schedule {

struct BlockPlan {
  size_t across = 0;                 // the loop along which the operands are contiguous
  std::vector<AccessRecord> staged;  // the loads that are transposed
};

// `seen`: the accesses of a build with one lane, in which none has a mask but where a condition of
// its own says so. nullopt: no operand is transposed, or the loops are too short for a block.
std::optional<BlockPlan> transposed_blocks(const Analysis& seen, const std::vector<LoopDim>& loops);

// Runs `body` once for every point of the nest, vectorised over the last loop.
void for_each_in_blocks(Frame& f, std::vector<LoopDim> loops, const BlockPlan& plan,
                        const std::function<void()>& body);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LOOPS_TRANSPOSED_BLOCKS_H_
