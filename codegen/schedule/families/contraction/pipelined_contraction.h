// Matrix products with software pipelining by asynchronous copies, for operands in a matrix layout
// (docs/decisions/contraction_tiles.md).
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_PIPELINED_CONTRACTION_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_PIPELINED_CONTRACTION_H_

#include <optional>

#include "codegen/schedule/program/kernels.h"

namespace primset::schedule {

// Computes what contraction_kernel does, from operands at `a` and `b`; nullopt where the target,
// the types or the operands' layouts do not allow it.
std::optional<BuiltKernel> pipelined_contraction(const BuildContext& c, prims::NodeId node,
                                                 const std::vector<Root>& roots,
                                                 const std::optional<Placement>& a,
                                                 const std::optional<Placement>& b);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_PIPELINED_CONTRACTION_H_
