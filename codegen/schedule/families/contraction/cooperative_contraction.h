// Matrix products by cooperative matrices, for f16 and bf16 operands in a matrix layout
// (docs/decisions/cooperative_matrices.md).
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_COOPERATIVE_CONTRACTION_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_COOPERATIVE_CONTRACTION_H_

#include <optional>

#include "codegen/schedule/program/kernels.h"

namespace primset::schedule {

// Computes what contraction_kernel does, from operands at `a` and `b`; nullopt where the target,
// the types or the operands' layouts do not allow it.
std::optional<BuiltKernel> cooperative_contraction(const BuildContext& c, prims::NodeId node,
                                                   const std::vector<Root>& roots,
                                                   const std::optional<Placement>& a,
                                                   const std::optional<Placement>& b);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_COOPERATIVE_CONTRACTION_H_
