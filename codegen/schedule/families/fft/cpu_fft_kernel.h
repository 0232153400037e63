// Transforms along one dim on a CPU.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FFT_CPU_FFT_KERNEL_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FFT_CPU_FFT_KERNEL_H_

#include <vector>

#include "codegen/schedule/families/fft/fft_plan.h"
#include "codegen/schedule/program/kernels.h"

namespace primset::schedule {

struct CpuFftRequest {
  FftPlan plan;
  prims::NodeId node = prims::Graph::kNoNode;
  const std::vector<Root>& roots;
  BufferId table = 0;
  BufferId between = 0;  // two_passes: what the first one writes
};

// Numbers of the kernel's table.
std::vector<std::byte> cpu_fft_table(const FftPlan& plan, DType part);

BuiltKernel cpu_fft_kernel(const BuildContext& c, const CpuFftRequest& r);

// to_half, from_half (cpu_real_fft_kernel.cpp).
std::vector<std::byte> cpu_real_fft_table(const FftPlan& plan, DType part);
BuiltKernel cpu_real_fft_kernel(const BuildContext& c, const CpuFftRequest& r);

// two_passes: the first transforms elements second apart and multiplies them by roots of unity, the
// second one what lies next to each other then.
std::vector<std::byte> first_pass_table(const FftPlan& plan, DType part);
std::vector<std::byte> second_pass_table(const FftPlan& plan, DType part);
BuiltKernel first_pass_kernel(const BuildContext& c, const CpuFftRequest& r);
BuiltKernel second_pass_kernel(const BuildContext& c, const CpuFftRequest& r);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FFT_CPU_FFT_KERNEL_H_
