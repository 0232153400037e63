// A segment's elements are computed where they are added up, and are nowhere in memory. No two
// threads write to one place, so that the bits do not depend on the order of threads.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SEGMENTS_SEGMENT_KERNEL_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SEGMENTS_SEGMENT_KERNEL_H_

#include "codegen/schedule/program/kernels.h"

namespace primset::schedule {

// node: segment_reduce.
BuiltKernel segment_kernel(const BuildContext& c, prims::NodeId node, const Placement& out);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SEGMENTS_SEGMENT_KERNEL_H_
