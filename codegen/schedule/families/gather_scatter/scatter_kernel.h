// Scatter kernels: they write at computed indices.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_GATHER_SCATTER_SCATTER_KERNEL_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_GATHER_SCATTER_SCATTER_KERNEL_H_

#include "codegen/schedule/families/gather_scatter/last_writers.h"
#include "codegen/schedule/program/kernels.h"

namespace primset::schedule {

// On a CPU: updates of rows, whose elements lie side by side in the target.
bool writes_vectors(const prims::Graph& g, const prims::Node& n);

// Writes or combines the updates into `target`, which already has the operand's elements. With
// `last`, whose updates are claimed, only the last one of each place is written.
BuiltKernel scatter_kernel(const BuildContext& c, prims::NodeId node, const Placement& target,
                           const LastWriters* last = nullptr);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_GATHER_SCATTER_SCATTER_KERNEL_H_
