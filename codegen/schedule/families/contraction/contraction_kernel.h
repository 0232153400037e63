// The general tiled kernel of matrix products: operands may be computed inside the kernel.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_CONTRACTION_KERNEL_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_CONTRACTION_KERNEL_H_

#include <vector>

#include "codegen/schedule/program/kernels.h"

namespace primset::schedule {

// Computes a dot_general in tiles, with an elementwise epilogue: the roots have the result's shape.
// tiles_contraction (tuning/contraction_tiles.h) says which products are tiled.
BuiltKernel contraction_kernel(const BuildContext& c, prims::NodeId node,
                               const std::vector<Root>& roots);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_CONTRACTION_KERNEL_H_
