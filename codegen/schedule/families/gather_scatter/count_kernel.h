// Histograms: a scatter_add of ones to few places.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_GATHER_SCATTER_COUNT_KERNEL_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_GATHER_SCATTER_COUNT_KERNEL_H_

#include "codegen/schedule/program/kernels.h"

namespace primset::schedule {

// Is the scatter such a one, with many more ones than places, on a SIMT device? May add guards.
bool counts_in_groups(const Machine& machine, const prims::Graph& g, const prims::Node& n);

// Each workgroup counts in its own memory, where threads seldom wait for each other, and adds what
// it has counted to `target`, which already has the operand's elements.
BuiltKernel count_kernel(const BuildContext& c, prims::NodeId node, const Placement& target);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_GATHER_SCATTER_COUNT_KERNEL_H_
