#include "backends/vulkan/claims.h"

namespace primset_vulkan {
namespace {

// Kernels ask for DenormPreserve where a device has it; without it Vulkan lets a device flush.
// llvmpipe has it not, and flushes nothing: the host CPU computes.
bool keeps_denormals(const PhysicalDevice& d, uint32_t width) {
  return (d.keep_denorm_widths & width) != 0 || d.driver == VK_DRIVER_ID_MESA_LLVMPIPE;
}

// Vulkan itself promises none of this; these drivers are known to. Unknown ones claim nothing.
uint32_t known_arithmetic(VkDriverId driver) {
  switch (driver) {
    case VK_DRIVER_ID_NVIDIA_PROPRIETARY:  // ex2.approx: 2 ulp
      return PRIMSET_NUMERIC_FUSED_FMA | PRIMSET_NUMERIC_FAST_EXP2;
    case VK_DRIVER_ID_AMD_PROPRIETARY:
    case VK_DRIVER_ID_AMD_OPEN_SOURCE:
    case VK_DRIVER_ID_MESA_RADV:
    case VK_DRIVER_ID_INTEL_PROPRIETARY_WINDOWS:
    case VK_DRIVER_ID_INTEL_OPEN_SOURCE_MESA:
      return PRIMSET_NUMERIC_FUSED_FMA;
    case VK_DRIVER_ID_MESA_LLVMPIPE:  // the host CPU's division; fma is a product and a sum
      return PRIMSET_NUMERIC_EXACT_DIV_F32 | PRIMSET_NUMERIC_EXACT_DIV_F64;
    default:
      return 0;
  }
}

}  // namespace

uint32_t kernel_features(const PhysicalDevice& d) {
  uint32_t f = PRIMSET_FEATURE_I64;
  if (d.features.shaderFloat64) f |= PRIMSET_FEATURE_F64;
  // Else kernels convert halves with integers, which lose no denormal.
  if (d.features12.shaderFloat16 && d.features11.storageBuffer16BitAccess && keeps_denormals(d, 16))
    f |= PRIMSET_FEATURE_F16;
  if (d.features12.shaderBufferInt64Atomics) f |= PRIMSET_FEATURE_ATOMIC_I64;
  if (d.atomic_float) f |= PRIMSET_FEATURE_ATOMIC_F32_ADD;
  if (d.features12.shaderInt8 && d.features12.storageBuffer8BitAccess) f |= PRIMSET_FEATURE_INT8;
  if (d.features.shaderInt16 && d.features11.storageBuffer16BitAccess) f |= PRIMSET_FEATURE_INT16;
  if (d.subgroup_ballot) f |= PRIMSET_FEATURE_BALLOT;
  if (d.cooperative_f16) f |= PRIMSET_FEATURE_COOPERATIVE_F16;
  if (d.cooperative_bf16) f |= PRIMSET_FEATURE_COOPERATIVE_BF16;
  return f;
}

uint32_t numerics(const PhysicalDevice& d) {
  uint32_t n = known_arithmetic(d.driver);
  const uint32_t needed = d.features.shaderFloat64 ? 32 | 64 : 32;
  if ((d.keep_nan_widths & needed) == needed) n |= PRIMSET_NUMERIC_KEEP_NAN_INF;
  if (!keeps_denormals(d, 32)) n |= PRIMSET_NUMERIC_FLUSH_F32;
  return n;
}

}  // namespace primset_vulkan
