// A compaction reads the selection twice. A workgroup counts what it selects of each of its tiles;
// one workgroup turns the counts into the places where the tiles' elements begin; and every tile's
// elements go through workgroup memory to theirs, so that neighbouring threads write neighbours.
// Behind them are zeros.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_COMPACTION_COMPACTION_KERNELS_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_COMPACTION_COMPACTION_KERNELS_H_

#include <optional>

#include "codegen/schedule/program/kernels.h"

namespace primset::schedule {

struct Compaction {
  prims::NodeId node = 0;
  SymInt size;               // of the operands
  uint32_t threads = 0;      // of a workgroup
  uint32_t items = 0;        // neighbours of a tile that one thread has
  BufferId starts = 0;       // of each tile: how many are selected of it, then of all before it
  DType place = DType::i32;  // of these
  std::optional<Placement> packed, count;  // the results that are wanted

  int64_t tile() const { return int64_t{threads} * items; }
  SymInt tiles() const { return prims::ceil_div(size, SymInt(tile())); }
};

BuiltKernel compaction_count_kernel(const BuildContext& c, const Compaction& compaction);
BuiltKernel compaction_starts_kernel(const BuildContext& c, const Compaction& compaction);
BuiltKernel compaction_store_kernel(const BuildContext& c, const Compaction& compaction);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_COMPACTION_COMPACTION_KERNELS_H_
