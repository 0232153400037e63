// Kernels of reductions, with everything that needs their results in the same rows.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_REDUCTION_REDUCE_KERNEL_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_REDUCTION_REDUCE_KERNEL_H_

#include <vector>

#include "codegen/schedule/program/kernels.h"

namespace primset::schedule {

// Reductions of operands of one shape `domain` over its dimension `dim`, and what can be computed
// with their results in the same rows: `rows` have the domain's shape without `dim`, `wide` the
// whole.
struct ReduceRequest {
  SymInts domain;
  size_t dim = 0;
  std::vector<prims::NodeId> reduces;  // in the order of their dependences
  std::vector<Root> rows, wide;
};
BuiltKernel reduce_kernel(const BuildContext& c, const ReduceRequest& r);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_REDUCTION_REDUCE_KERNEL_H_
