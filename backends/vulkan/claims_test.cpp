// Claims of devices that this machine need not have.
#include "backends/vulkan/claims.h"

#include <gtest/gtest.h>

#include "backends/common/spirv_claims.h"

namespace primset_vulkan {
namespace {

PhysicalDevice device(VkDriverId driver) {
  PhysicalDevice d;
  d.driver = driver;
  d.features.shaderFloat64 = d.features.shaderInt16 = VK_TRUE;
  d.features12.shaderFloat16 = d.features12.shaderInt8 = VK_TRUE;
  d.features11.storageBuffer16BitAccess = d.features12.storageBuffer8BitAccess = VK_TRUE;
  d.keep_nan_widths = d.round_even_widths = d.keep_denorm_widths = 16 | 32 | 64;
  return d;
}

TEST(Claims, ADeviceThatKeepsDenormalsFlushesNone) {
  const PhysicalDevice d = device(VK_DRIVER_ID_AMD_OPEN_SOURCE);
  EXPECT_EQ(numerics(d), PRIMSET_NUMERIC_KEEP_NAN_INF | PRIMSET_NUMERIC_FUSED_FMA);
  EXPECT_TRUE(kernel_features(d) & PRIMSET_FEATURE_F16);
}

TEST(Claims, ADriverKnownToHaveItTakesItsOwnPowerOfTwo) {
  EXPECT_TRUE(numerics(device(VK_DRIVER_ID_NVIDIA_PROPRIETARY)) & PRIMSET_NUMERIC_FAST_EXP2);
  EXPECT_FALSE(numerics(device(VK_DRIVER_ID_MESA_LLVMPIPE)) & PRIMSET_NUMERIC_FAST_EXP2);
}

TEST(Claims, ADeviceWithoutTheModeMayFlush) {
  PhysicalDevice d = device(VK_DRIVER_ID_NVIDIA_PROPRIETARY);
  d.keep_denorm_widths = 64;
  EXPECT_TRUE(numerics(d) & PRIMSET_NUMERIC_FLUSH_F32);
  EXPECT_FALSE(kernel_features(d) & PRIMSET_FEATURE_F16);
  // Halves stay: kernels convert them with integers.
  EXPECT_TRUE(primset_backend::spirv_dtypes(kernel_features(d)) & 1u << PRIMSET_F16);
}

TEST(Claims, EachWidthCountsForItself) {
  PhysicalDevice d = device(VK_DRIVER_ID_AMD_PROPRIETARY);
  d.keep_denorm_widths = 16 | 64;
  EXPECT_TRUE(numerics(d) & PRIMSET_NUMERIC_FLUSH_F32);
  EXPECT_TRUE(kernel_features(d) & PRIMSET_FEATURE_F16);
  d.keep_denorm_widths = 32;
  EXPECT_FALSE(numerics(d) & PRIMSET_NUMERIC_FLUSH_F32);
  EXPECT_FALSE(kernel_features(d) & PRIMSET_FEATURE_F16);
}

TEST(Claims, LlvmpipeKeepsDenormalsWithoutSayingSo) {
  PhysicalDevice d = device(VK_DRIVER_ID_MESA_LLVMPIPE);
  d.keep_denorm_widths = 0;
  EXPECT_FALSE(numerics(d) & PRIMSET_NUMERIC_FLUSH_F32);
  EXPECT_TRUE(kernel_features(d) & PRIMSET_FEATURE_F16);
}

TEST(Claims, BallotsWhereSubgroupsHaveThem) {
  PhysicalDevice d = device(VK_DRIVER_ID_NVIDIA_PROPRIETARY);
  EXPECT_FALSE(kernel_features(d) & PRIMSET_FEATURE_BALLOT);
  d.subgroup_ballot = true;
  EXPECT_TRUE(kernel_features(d) & PRIMSET_FEATURE_BALLOT);
}

TEST(Claims, CooperativeMatricesWhereTheDeviceHasThem) {
  PhysicalDevice d = device(VK_DRIVER_ID_NVIDIA_PROPRIETARY);
  constexpr uint32_t kBoth = PRIMSET_FEATURE_COOPERATIVE_F16 | PRIMSET_FEATURE_COOPERATIVE_BF16;
  EXPECT_EQ(kernel_features(d) & kBoth, 0u);
  d.cooperative_f16 = true;
  EXPECT_EQ(kernel_features(d) & kBoth, PRIMSET_FEATURE_COOPERATIVE_F16);
  d.cooperative_bf16 = true;
  EXPECT_EQ(kernel_features(d) & kBoth, kBoth);
}

TEST(Claims, NanIsKeptWhereEveryWidthKeepsIt) {
  PhysicalDevice d = device(VK_DRIVER_ID_INTEL_OPEN_SOURCE_MESA);
  d.keep_nan_widths = 32;
  EXPECT_FALSE(numerics(d) & PRIMSET_NUMERIC_KEEP_NAN_INF);
  d.features.shaderFloat64 = VK_FALSE;
  EXPECT_TRUE(numerics(d) & PRIMSET_NUMERIC_KEEP_NAN_INF);
  EXPECT_FALSE(primset_backend::spirv_dtypes(kernel_features(d)) & 1u << PRIMSET_F64);
}

}  // namespace
}  // namespace primset_vulkan
