// Fused pointwise kernels.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_POINTWISE_POINTWISE_KERNEL_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_POINTWISE_POINTWISE_KERNEL_H_

#include <vector>

#include "codegen/schedule/program/kernels.h"

namespace primset::schedule {

// Computes and stores every element of the roots, whose common shape is `domain`, with everything
// that they depend on inlined down to stored values. `checks`: nodes of primitive `check` over the
// same shape.
BuiltKernel pointwise_kernel(const BuildContext& c, const SymInts& domain,
                             const std::vector<Root>& roots,
                             const std::vector<prims::NodeId>& checks);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_POINTWISE_POINTWISE_KERNEL_H_
