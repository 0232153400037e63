// Kernels of inclusive scans.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SCAN_SCAN_KERNEL_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SCAN_SCAN_KERNEL_H_

#include <vector>

#include "codegen/schedule/program/kernels.h"

namespace primset::schedule {

// An inclusive scan along attribute `dim` (scan_sum, scan_prod or a region scan). A root is a
// result, or an elementwise function of results and other values.
BuiltKernel scan_kernel(const BuildContext& c, prims::NodeId node, const std::vector<Root>& roots);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SCAN_SCAN_KERNEL_H_
