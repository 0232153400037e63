// Reduction kernels, with everything that uses the results in the same rows.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_REDUCTION_REDUCE_KERNEL_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_REDUCTION_REDUCE_KERNEL_H_

#include <vector>

#include "codegen/schedule/program/kernels.h"

namespace primset::schedule {

// Reductions of operands of one shape, `domain`, over dimension `dim`, and the values to store that
// are computed from them: `row_roots` have the domain's shape without `dim`, `domain_roots` all of
// it.
struct ReduceRequest {
  SymInts domain;
  size_t dim = 0;
  std::vector<prims::NodeId> reduces;  // in topological order
  std::vector<Root> row_roots, domain_roots;
};
BuiltKernel reduce_kernel(const BuildContext& c, const ReduceRequest& r);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_REDUCTION_REDUCE_KERNEL_H_
