// Fused pointwise kernels.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_POINTWISE_POINTWISE_KERNEL_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_POINTWISE_POINTWISE_KERNEL_H_

#include <vector>

#include "codegen/schedule/program/kernels.h"

namespace primset::schedule {

// Every element of the roots, which share one shape, from whatever it depends on. `checks` are
// nodes of primitive `check` over the same shape.
BuiltKernel pointwise_kernel(const BuildContext& c, const SymInts& domain,
                             const std::vector<Root>& roots,
                             const std::vector<prims::NodeId>& checks);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_POINTWISE_POINTWISE_KERNEL_H_
