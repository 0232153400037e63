// Tiled kernels of matrix products whose operands are computed on the way.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_CONTRACTION_KERNEL_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_CONTRACTION_KERNEL_H_

#include <vector>

#include "codegen/schedule/program/kernels.h"

namespace primset::schedule {

// Products of a dot_general's operands summed in tiles, and what is made of the result elementwise:
// the roots have its shape. tiles_contraction (tuning/contraction_tiles.h) says where that is worth
// it.
BuiltKernel contraction_kernel(const BuildContext& c, prims::NodeId node,
                               const std::vector<Root>& roots);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_CONTRACTION_KERNEL_H_
