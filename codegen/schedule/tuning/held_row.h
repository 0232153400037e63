// Rows that one workgroup of a SIMT device reads once and holds.
#ifndef PRIMSET_CODEGEN_SCHEDULE_TUNING_HELD_ROW_H_
#define PRIMSET_CODEGEN_SCHEDULE_TUNING_HELD_ROW_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "codegen/schedule/tuning/summation_order.h"
#include "prims/graph/symint.h"

namespace primset::schedule {

// Are `dims` those at the end of the shape, and no longer than a chunk? A guard, where sizes are
// symbolic.
inline bool is_held_row(const prims::SymInts& shape, const std::vector<int64_t>& dims) {
  const auto first = static_cast<int64_t>(shape.size() - dims.size());
  if (std::ranges::any_of(dims, [&](int64_t d) { return d < first; })) return false;
  prims::SymInt length = 1;
  for (int64_t d : dims) length *= shape[static_cast<size_t>(d)];
  return !(length > prims::SymInt(kReductionChunk));
}

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_TUNING_HELD_ROW_H_
