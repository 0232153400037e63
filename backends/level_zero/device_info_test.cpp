// What follows from what Level Zero says of a device; it needs none.
#include "backends/level_zero/device_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace primset_level_zero {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr ze_device_fp_flags_t kIeee = ZE_DEVICE_FP_FLAG_DENORM | ZE_DEVICE_FP_FLAG_INF_NAN |
                                       ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST | ZE_DEVICE_FP_FLAG_FMA;

// An integrated GPU of the ninth generation, as Intel's driver describes it.
DeviceInfo skylake() {
  DeviceInfo info;
  std::strcpy(info.device.name, "Intel(R) UHD Graphics 620");
  info.device.vendorId = 0x8086;
  info.device.deviceId = 0x1916;
  info.device.numSlices = 1;
  info.device.numSubslicesPerSlice = 3;
  info.compute.maxTotalGroupSize = 256;
  info.compute.maxGroupCountX = info.compute.maxGroupCountY = info.compute.maxGroupCountZ =
      0xffffffff;
  info.compute.maxSharedLocalMemory = 65536;
  info.compute.numSubGroupSizes = 3;
  for (uint32_t i = 0; i < 3; ++i) info.compute.subGroupSizes[i] = 8u << i;
  info.module.spirvVersionSupported = ZE_MAKE_VERSION(1, 3);
  info.module.flags =
      ZE_DEVICE_MODULE_FLAG_FP16 | ZE_DEVICE_MODULE_FLAG_FP64 | ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS;
  info.module.fp16flags = info.module.fp64flags = kIeee;
  info.module.fp32flags = kIeee | ZE_DEVICE_FP_FLAG_ROUNDED_DIVIDE_SQRT;
  info.module.maxArgumentsSize = 2048;
  info.memory_bytes = uint64_t{1} << 30;
  ze_command_queue_group_properties_t group{};
  group.flags = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE;
  group.maxMemoryFillPatternSize = SIZE_MAX;
  group.numQueues = 1;
  info.queue_groups = {group};
  return info;
}

primset_device_properties claims(const DeviceInfo& info) {
  primset_device_properties p{};
  primset_backend::claim(describe(info), p);
  return p;
}

TEST(DeviceInfo, ClaimsWhatTheDriverSays) {
  const primset_device_properties p = claims(skylake());
  EXPECT_EQ(p.kernel_format, PRIMSET_FORMAT_SPIRV_KERNEL);
  EXPECT_EQ(p.threads, 3u);
  EXPECT_EQ(p.max_group_threads, 256u);
  EXPECT_EQ(p.max_subgroup, 16u);
  EXPECT_EQ(p.max_groups[0], 0x7fffffffu);
  EXPECT_EQ(p.max_param_bytes, 2048u);
  EXPECT_TRUE(p.features & PRIMSET_FEATURE_ATOMIC_I64);
  EXPECT_FALSE(p.features & PRIMSET_FEATURE_ATOMIC_F32_ADD);
  EXPECT_TRUE(p.numerics & PRIMSET_NUMERIC_FUSED_FMA);
  EXPECT_FALSE(p.numerics & (PRIMSET_NUMERIC_FLUSH_F32 | PRIMSET_NUMERIC_FAST_EXP2));
}

TEST(DeviceInfo, ExactDivisionIsClaimedWhereTheCompilerIsToldSo) {
  DeviceInfo info = skylake();
  EXPECT_TRUE(claims(info).numerics & PRIMSET_NUMERIC_EXACT_DIV_F32);
  EXPECT_THAT(build_options(info), HasSubstr("correctly-rounded"));
  info.module.fp32flags = kIeee;
  EXPECT_FALSE(claims(info).numerics & PRIMSET_NUMERIC_EXACT_DIV_F32);
  EXPECT_THAT(build_options(info), Not(HasSubstr("correctly-rounded")));
}

TEST(DeviceInfo, ADeviceWithoutF64HasNoTensorsOfIt) {
  DeviceInfo info = skylake();
  info.module.flags &= ~static_cast<uint32_t>(ZE_DEVICE_MODULE_FLAG_FP64);
  info.module.fp64flags = 0;
  const primset_device_properties p = claims(info);
  EXPECT_FALSE(p.dtypes & (1u << PRIMSET_F64 | 1u << PRIMSET_C128));
  EXPECT_TRUE(p.dtypes & 1u << PRIMSET_C64);
  EXPECT_FALSE(p.features & PRIMSET_FEATURE_F64);
  EXPECT_TRUE(p.numerics & PRIMSET_NUMERIC_FUSED_FMA) << "of f32 it says so";
}

TEST(DeviceInfo, WhatIsMissingIsNotClaimed) {
  DeviceInfo info = skylake();
  info.module.fp32flags = 0;
  info.module.fp16flags = 0;
  info.module.spirvVersionSupported = ZE_MAKE_VERSION(1, 2);
  const primset_device_properties p = claims(info);
  EXPECT_TRUE(p.numerics & PRIMSET_NUMERIC_FLUSH_F32);
  EXPECT_FALSE(p.numerics & PRIMSET_NUMERIC_FUSED_FMA);
  EXPECT_FALSE(p.features & (PRIMSET_FEATURE_F16 | PRIMSET_FEATURE_BALLOT));
  EXPECT_EQ(p.max_subgroup, 1u);
}

TEST(DeviceInfo, LargeMemoryIsAddressedWithoutALimit) {
  DeviceInfo info = skylake();
  EXPECT_THAT(build_options(info), Not(HasSubstr("4GB")));
  info.memory_bytes = uint64_t{16} << 30;
  EXPECT_THAT(build_options(info), HasSubstr("greater-than-4GB"));
}

TEST(DeviceInfo, TheQueueGroupComputesAndFills) {
  DeviceInfo info = skylake();
  ze_command_queue_group_properties_t copies = info.queue_groups[0], narrow = copies;
  copies.flags = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
  narrow.maxMemoryFillPatternSize = 4;
  info.queue_groups = {copies, narrow, info.queue_groups[0]};
  EXPECT_EQ(compute_group(info), 2u);
  info.queue_groups.pop_back();
  EXPECT_EQ(compute_group(info), std::nullopt);
}

TEST(DeviceInfo, CompiledCodeIsOfOneDriverDeviceAndSetOfOptions) {
  const DeviceInfo info = skylake();
  DeviceInfo other = info;
  other.driver_version = 7;
  EXPECT_NE(cache_target(other), cache_target(info));
  other = info;
  other.device.deviceId = 1;
  EXPECT_NE(cache_target(other), cache_target(info));
  other = info;
  other.module.fp32flags = kIeee;
  EXPECT_NE(cache_target(other), cache_target(info));
}

}  // namespace
}  // namespace primset_level_zero
