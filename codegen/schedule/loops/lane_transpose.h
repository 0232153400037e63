// A square of elements in the lanes of vectors, transposed in registers.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LOOPS_LANE_TRANSPOSE_H_
#define PRIMSET_CODEGEN_SCHEDULE_LOOPS_LANE_TRANSPOSE_H_

#include <vector>

#include "codegen/kernel/ir/builder.h"

namespace primset::schedule {

// Rows of as many lanes as there are rows, a power of two, turned into columns.
std::vector<kir::Value> transposed(kir::Builder& b, std::vector<kir::Value> rows);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LOOPS_LANE_TRANSPOSE_H_
