// Transforms along one dim on a SIMT device.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FFT_GROUP_FFT_KERNEL_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FFT_GROUP_FFT_KERNEL_H_

#include <vector>

#include "codegen/schedule/families/fft/fft_plan.h"
#include "codegen/schedule/program/kernels.h"

namespace primset::schedule {

std::vector<std::byte> group_fft_table(const FftPlan& plan, DType part);
BuiltKernel group_fft_kernel(const BuildContext& c, const FftPlan& plan, prims::NodeId node,
                             const std::vector<Root>& roots, BufferId table);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FFT_GROUP_FFT_KERNEL_H_
