// Which machines pack selected elements in tiles, and how many elements a thread of a tile has.
#ifndef PRIMSET_CODEGEN_SCHEDULE_TUNING_COMPACTION_H_
#define PRIMSET_CODEGEN_SCHEDULE_TUNING_COMPACTION_H_

#include <algorithm>

#include "codegen/schedule/tuning/machine.h"

namespace primset::schedule {

inline uint32_t compaction_items(const Machine& machine, uint32_t element_bytes) {
  const auto& tuning = machine.tuning.compaction;
  const kir::TargetModel& target = machine.target;
  // Half of the memory: a workgroup's sums need some of it.
  const uint32_t most =
      target.group_memory / 2 / (target.group_threads * std::max(element_bytes, 4u));
  return std::min({static_cast<uint32_t>(tuning.items),
                   static_cast<uint32_t>(tuning.bytes) / std::max(element_bytes, 4u), most});
}

// The number of those selected is an i64.
inline bool compacts_in_tiles(const Machine& machine, DType dtype) {
  const kir::TargetModel& target = machine.target;
  const auto bytes = static_cast<uint32_t>(byte_size(dtype));
  return target.simt && target.i64 && compaction_items(machine, bytes) > 0;
}

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_TUNING_COMPACTION_H_
