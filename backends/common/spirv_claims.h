// What a back end says of a device that takes SPIR-V, as far as it follows from what the device
// offers and not from the API that it is asked through.
#ifndef PRIMSET_BACKENDS_COMMON_SPIRV_CLAIMS_H_
#define PRIMSET_BACKENDS_COMMON_SPIRV_CLAIMS_H_

#include <primset/plugin.h>

#include <cstdint>
#include <string>
#include <vector>

namespace primset_backend {

// The element types of a device with these PRIMSET_FEATURE_*: a set of bits 1 << PRIMSET_F32 and so
// on. Half types and float8 need no more than loads and stores of their width: kernels convert
// them.
uint64_t spirv_dtypes(uint32_t features);

// What OpenCL and Level Zero tell of a device that takes the Kernel flavour.
struct SpirvKernelDevice {
  std::string name;
  uint64_t memory_bytes = 0;
  bool cpu = false;  // the host's own processor
  bool f64 = false;
  bool f16 = false;  // with denormals
  bool i64_atomics = false;
  bool f32_atomic_add = false;  // SPV_EXT_shader_atomic_float_add, on device memory
  // GroupNonUniformBallot and GroupNonUniformShuffle, of SPIR-V 1.3.
  bool ballot_and_shuffle = false;
  // The sizes that a kernel may ask for (SubgroupSize); one, where the device has but one.
  std::vector<uint32_t> subgroup_sizes;
  bool keeps_f32_denormals = false;
  bool exact_f32_division = false;  // division and square root
  bool fused_fma = false;
  bool native_exp2 = false;  // as close as PRIMSET_NUMERIC_FAST_EXP2 says
  // Widths, as the sum 16 | 32 | 64, with modes of SPV_KHR_float_controls.
  uint32_t keep_nan_widths = 0, round_even_widths = 0, keep_denorm_widths = 0;
  uint32_t compute_units = 1;
  uint64_t max_group_threads = 1;
  uint64_t group_memory = 0;
  uint64_t max_param_bytes = 0;
  uint32_t max_groups[3] = {0x7fffffff, 0x7fffffff, 0x7fffffff};
};

// The one size that kernels state where they use subgroups: the smallest from 16 lanes on, which
// leaves a thread the most registers, else the largest. 1: kernels use no subgroups.
uint32_t subgroup_size(const SpirvKernelDevice& device);

// Fills all but struct_size, memory_alignment and next.
void claim(const SpirvKernelDevice& device, primset_device_properties& p);

}  // namespace primset_backend

#endif  // PRIMSET_BACKENDS_COMMON_SPIRV_CLAIMS_H_
