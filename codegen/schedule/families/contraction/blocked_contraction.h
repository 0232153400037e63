// Matrix products on CPUs: operands packed in blocks that stay in the cache, a register-resident
// block of the result, as in "Anatomy of High-Performance Matrix Multiplication" (Goto, van de
// Geijn, 2008).
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_BLOCKED_CONTRACTION_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_BLOCKED_CONTRACTION_H_

#include <vector>

#include "codegen/schedule/program/kernels.h"

namespace primset::schedule {

// Computes a dot_general with an elementwise epilogue: the roots have the result's shape. Operands
// are computed where they are packed. tiles_contraction (tuning/contraction_tiles.h) says which
// products are. An element's sum is the same whatever the other sizes are.
BuiltKernel blocked_contraction(const BuildContext& c, prims::NodeId node,
                                const std::vector<Root>& roots);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_BLOCKED_CONTRACTION_H_
