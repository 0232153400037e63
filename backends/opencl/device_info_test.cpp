// Devices and errors that this machine need not have.
#include "backends/opencl/device_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>

#include "backends/common/status.h"

namespace primset_opencl {
namespace {

// What the device of the test answers, byte for byte.
std::map<cl_device_info, std::string> g_answers;

cl_int CL_API_CALL answer(cl_device_id, cl_device_info what, size_t room, void* value,
                          size_t* bytes) {
  const auto found = g_answers.find(what);
  if (found == g_answers.end()) return CL_INVALID_VALUE;
  if (bytes) *bytes = found->second.size();
  if (value && room < found->second.size()) return CL_INVALID_VALUE;
  if (value) std::memcpy(value, found->second.data(), found->second.size());
  return CL_SUCCESS;
}

template <typename T>
void say(cl_device_info what, T value) {
  g_answers[what].assign(reinterpret_cast<const char*>(&value), sizeof(value));
}
void say_text(cl_device_info what, const std::string& text) {
  g_answers[what] = text + '\0';
}

class Info : public testing::Test {
 protected:
  void SetUp() override {
    g_answers.clear();
    cl_.clGetDeviceInfo = answer;
    say_text(CL_DEVICE_NAME, "a GPU");
    say_text(CL_DEVICE_PROFILE, "FULL_PROFILE");
    say_text(CL_DEVICE_IL_VERSION, "SPIR-V_1.0 SPIR-V_1.4 SPIR-V_1.2");
    say_text(CL_DEVICE_EXTENSIONS,
             "cl_khr_fp16 cl_khr_subgroup_ballot cl_khr_subgroup_shuffle "
             "cl_intel_required_subgroup_size");
    say<cl_device_type>(CL_DEVICE_TYPE, CL_DEVICE_TYPE_GPU);
    say<cl_device_fp_config>(CL_DEVICE_SINGLE_FP_CONFIG, CL_FP_DENORM | CL_FP_ROUND_TO_NEAREST);
    say<cl_device_fp_config>(CL_DEVICE_HALF_FP_CONFIG, CL_FP_DENORM);
    const std::array<size_t, 3> sizes = {8, 16, 32};
    say(CL_DEVICE_SUB_GROUP_SIZES_INTEL, sizes);
  }
  DeviceInfo info() const { return DeviceInfo(cl_, nullptr); }

  Functions cl_;
};

TEST_F(Info, WhatADeviceDoesNotKnowIsNotClaimed) {
  const primset_backend::SpirvKernelDevice d = info().claims();
  EXPECT_FALSE(d.f64);
  EXPECT_FALSE(d.i64_atomics);
  EXPECT_FALSE(d.exact_f32_division);
  EXPECT_FALSE(d.native_exp2);
  EXPECT_FALSE(d.cpu);
  EXPECT_TRUE(d.f16);
  EXPECT_TRUE(d.fused_fma);
  EXPECT_TRUE(d.keeps_f32_denormals);
  EXPECT_THAT(d.subgroup_sizes, testing::ElementsAre(8, 16, 32));
  EXPECT_TRUE(d.ballot_and_shuffle);
}

TEST_F(Info, HalvesThatFlushDenormalsAreNotNative) {
  say<cl_device_fp_config>(CL_DEVICE_HALF_FP_CONFIG, CL_FP_ROUND_TO_NEAREST);
  EXPECT_FALSE(info().claims().f16);
}

TEST_F(Info, SubgroupsNeedTheirVersionOfSpirv) {
  say_text(CL_DEVICE_IL_VERSION, "SPIR-V_1.2");
  EXPECT_EQ(info().spirv_version(), 102u);
  EXPECT_FALSE(info().claims().ballot_and_shuffle);
  g_answers.erase(CL_DEVICE_IL_VERSION);
  EXPECT_EQ(info().spirv_version(), 0u);
}

TEST_F(Info, AnExtensionIsAWholeWord) {
  EXPECT_TRUE(info().has("cl_khr_fp16"));
  EXPECT_FALSE(info().has("cl_khr_fp1"));
  EXPECT_FALSE(info().has("cl_intel_required"));
}

TEST(Errors, ResourcesThatRunOutWhileAKernelRunsAreALostDevice) {
  const auto code = [](auto&& f) {
    try {
      f();
    } catch (const primset_backend::BackendError& e) {
      return e.code();
    }
    return uint32_t{PRIMSET_OK};
  };
  EXPECT_EQ(code([] { kResults.check(CL_OUT_OF_RESOURCES, "f"); }),
            uint32_t{PRIMSET_OUT_OF_MEMORY});
  EXPECT_EQ(code([] { kResultsOfWaits.check(CL_OUT_OF_RESOURCES, "f"); }),
            uint32_t{PRIMSET_DEVICE_LOST});
  EXPECT_EQ(code([] { kResultsOfWaits.check(CL_SUCCESS, "f"); }), uint32_t{PRIMSET_OK});
  EXPECT_EQ(kResults.name(CL_BUILD_PROGRAM_FAILURE), "CL_BUILD_PROGRAM_FAILURE (-11)");
  EXPECT_EQ(kResults.name(CL_INVALID_KERNEL_ARGS), "CL_INVALID_KERNEL_ARGS (-52)");
  EXPECT_EQ(kResults.code(CL_INVALID_KERNEL_ARGS), uint32_t{PRIMSET_INTERNAL});
  EXPECT_EQ(kResults.name(-9999), "result (-9999)");
}

}  // namespace
}  // namespace primset_opencl
