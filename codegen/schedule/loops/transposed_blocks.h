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
#include "codegen/schedule/loops/group_memory.h"
#include "codegen/schedule/loops/loops.h"

namespace primset::schedule {

// Elements of a block on a side: a cache line of 32-bit ones.
inline constexpr uint16_t kBlockSide = 16;

// Where a block is: up to kBlockSide indices from `row` on of the loop along which memory is
// contiguous, and as many from `first` on, less than `end`, of the one whose indices are lanes.
struct BlockPlace {
  kir::Value row, row_end, first, end;
};

// The accesses of a kernel that lie transposed: contiguous along a loop `along` (its dim of the
// domain) that is none of lanes. They are read and written block by block; between both the body
// finds its loads in the block, and leaves its stores there.
class TransposedBlock {
 public:
  TransposedBlock(Frame& f, std::vector<AccessRecord> staged);

  // Reads the loads' blocks. `loops` end with that of rows and that of lanes.
  void read(std::vector<LoopDim> loops, const BlockPlace& place);
  // Runs `body` for row `r` of the block, with `loops` at it; lanes are set.
  void in_row(std::vector<LoopDim> loops, kir::Value r, const BlockPlace& place,
              const std::function<void()>& body);
  // Writes the stores' blocks; `mask`: which lanes are inside, invalid: all.
  void write(std::vector<LoopDim> loops, const BlockPlace& place, kir::Value mask);

 private:
  GroupMemory* memory_of(const AccessRecord& a);
  // Runs body(loops) with the block's rows for lanes, for what has elements side by side along
  // them.
  void along_rows(std::vector<LoopDim> loops, const BlockPlace& place,
                  const std::function<void(std::vector<LoopDim>&)>& body);

  Frame& f_;
  std::vector<AccessRecord> staged_;
  std::vector<GroupMemory> memory_;  // one a staged access
};

// The accesses of `seen` that a block may have: `along` and `lanes` are dims of the domain. `seen`
// is of a build with one lane, in which none has a mask but where a condition of its own says so.
std::vector<AccessRecord> transposed_accesses(const Analysis& seen, size_t along, size_t lanes);

struct BlockPlan {
  size_t across = 0;                 // the loop along which the operands are contiguous
  std::vector<AccessRecord> staged;  // the loads that are transposed
};

// `seen` as above. nullopt: no operand is transposed, or the loops are too short for a block.
std::optional<BlockPlan> transposed_blocks(const Analysis& seen, const std::vector<LoopDim>& loops);

// Runs `body` once for every point of the nest, vectorised over the last loop.
void for_each_in_blocks(Frame& f, std::vector<LoopDim> loops, const BlockPlan& plan,
                        const std::function<void()>& body);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LOOPS_TRANSPOSED_BLOCKS_H_
