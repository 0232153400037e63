#include "sdk/runtime/device/target.h"

#include <gtest/gtest.h>

#include <cstring>

#include "codegen/emit/emitter.h"

namespace primset::runtime {
namespace {

primset_device_properties properties(uint32_t format) {
  primset_device_properties p{};
  p.struct_size = sizeof(p);
  p.kernel_format = format;
  p.group_threads = p.max_group_threads = 64;
  p.max_groups[0] = 65535;
  return p;
}

std::string described(const primset_device_properties& p) {
  return describe(*target_model(p));
}

// The text is part of a kernel's key on disk: whatever changes the code changes the text.
TEST(Target, WhatChangesTheCodeIsDescribed) {
  const primset_device_properties plain = properties(PRIMSET_FORMAT_SPIRV_VULKAN);
  EXPECT_EQ(described(plain), described(plain));
  auto changed = [&](auto change) {
    primset_device_properties p = plain;
    change(p);
    return described(p) != described(plain);
  };
  EXPECT_TRUE(changed([](auto& p) { p.kernel_format = PRIMSET_FORMAT_SPIRV_KERNEL; }));
  EXPECT_TRUE(changed([](auto& p) { p.features |= PRIMSET_FEATURE_F64; }));
  EXPECT_TRUE(changed([](auto& p) { p.features |= PRIMSET_FEATURE_BALLOT; }));
  EXPECT_TRUE(changed([](auto& p) { p.numerics |= PRIMSET_NUMERIC_FUSED_FMA; }));
  EXPECT_TRUE(changed([](auto& p) { p.numerics |= PRIMSET_NUMERIC_FAST_EXP2; }));
  EXPECT_TRUE(changed([](auto& p) { p.large_group_memory = 1 << 17; }));
  EXPECT_TRUE(changed([](auto& p) { p.group_threads = 32; }));
  EXPECT_TRUE(changed([](auto& p) { p.max_subgroup = 8; }));
  EXPECT_TRUE(changed([](auto& p) { p.llvm_cpu = "acme2"; }));
  EXPECT_TRUE(changed([](auto& p) { p.loop_limit = 5; }));
  EXPECT_TRUE(changed([](auto& p) { p.threads = 7; }));
}

TEST(Target, WhatPtxAloneHas) {
  using Model = kir::TargetModel;
  constexpr uint32_t kMatrix = PRIMSET_FEATURE_MATRIX;
  for (const auto& [features, member] :
       {std::pair{uint32_t{PRIMSET_FEATURE_ASYNC_COPY}, &Model::async_copy},
        {kMatrix, &Model::matrix},
        {kMatrix | PRIMSET_FEATURE_GROUP_MATRIX, &Model::group_matrix},
        {uint32_t{PRIMSET_FEATURE_CACHE_POLICIES}, &Model::cache_policies},
        {uint32_t{PRIMSET_FEATURE_EARLY_START}, &Model::programmatic_dependent_launch}}) {
    SCOPED_TRACE(features);
    primset_device_properties p = properties(PRIMSET_FORMAT_PTX);
    p.features = features;
    EXPECT_TRUE((*target_model(p)).*member);
    EXPECT_NE(described(p), described(properties(PRIMSET_FORMAT_PTX)));
    p.kernel_format = PRIMSET_FORMAT_SPIRV_VULKAN;
    EXPECT_FALSE((*target_model(p)).*member);
  }
}

TEST(Target, CooperativeMatricesAreOfVulkanAlone) {
  primset_device_properties p = properties(PRIMSET_FORMAT_SPIRV_VULKAN);
  p.features = PRIMSET_FEATURE_COOPERATIVE_F16 | PRIMSET_FEATURE_COOPERATIVE_BF16;
  EXPECT_TRUE(target_model(p)->cooperative);
  EXPECT_TRUE(target_model(p)->cooperative_bf16);
  EXPECT_NE(described(p), described(properties(PRIMSET_FORMAT_SPIRV_VULKAN)));
  p.kernel_format = PRIMSET_FORMAT_PTX;
  EXPECT_FALSE(target_model(p)->cooperative);
  EXPECT_FALSE(target_model(p)->cooperative_bf16);
}

TEST(Target, NativeCodeIsOfOneCpu) {
  EXPECT_NE(described(properties(PRIMSET_FORMAT_NATIVE_IMAGE)).find(emit::host_target_name()),
            std::string::npos);
  EXPECT_EQ(described(properties(PRIMSET_FORMAT_SPIRV_VULKAN)).find(emit::host_target_name()),
            std::string::npos);
}

TEST(Target, DevicesWithoutKernelsHaveNone) {
  EXPECT_FALSE(target_model(properties(PRIMSET_FORMAT_NONE)));
}

}  // namespace
}  // namespace primset::runtime
