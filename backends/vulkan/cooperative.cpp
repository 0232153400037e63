#include "backends/vulkan/cooperative.h"

#include <algorithm>
#include <vector>

#include "backends/vulkan/instance.h"

namespace primset_vulkan {
namespace {

constexpr uint32_t kSide = 16, kLanes = 32;

bool multiplies(const khr::CooperativeMatrixProperties& p, uint32_t element) {
  return p.MSize == kSide && p.NSize == kSide && p.KSize == kSide && p.AType == element &&
         p.BType == element && p.CType == khr::kFloat32 && p.ResultType == khr::kFloat32 &&
         p.scope == khr::kSubgroupScope;
}

std::vector<khr::CooperativeMatrixProperties> properties_of(const PhysicalDevice& device,
                                                            PFN_vkGetInstanceProcAddr functions,
                                                            VkInstance instance) {
  const auto get = reinterpret_cast<khr::GetCooperativeMatrixProperties>(
      functions(instance, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"));
  uint32_t count = 0;
  if (get == nullptr || get(device.handle, &count, nullptr) < 0) return {};
  std::vector<khr::CooperativeMatrixProperties> all(count);
  if (get(device.handle, &count, all.data()) < 0) return {};
  all.resize(count);
  return all;
}

}  // namespace

void read_cooperative(const InstanceFunctions& vk, PFN_vkGetInstanceProcAddr functions,
                      VkInstance instance, PhysicalDevice& device) {
  const bool fits = device.min_subgroup == kLanes && device.max_subgroup == kLanes &&
                    device.subgroup_ballot && device.features12.shaderFloat16 &&
                    device.features12.vulkanMemoryModel &&
                    device.features12.vulkanMemoryModelDeviceScope;
  if (!fits || !has_extension(vk, device.handle, khr::kCooperativeMatrix)) return;
  const bool has_bfloat16 = has_extension(vk, device.handle, khr::kShaderBfloat16);
  khr::ShaderBfloat16Features bfloat16;
  khr::CooperativeMatrixFeatures matrices;
  matrices.pNext = has_bfloat16 ? &bfloat16 : nullptr;
  VkPhysicalDeviceFeatures2 features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &matrices;
  vk.vkGetPhysicalDeviceFeatures2(device.handle, &features);
  if (!matrices.cooperativeMatrix) return;
  const auto all = properties_of(device, functions, instance);
  const auto any = [&](uint32_t element) {
    return std::ranges::any_of(all, [&](const auto& p) { return multiplies(p, element); });
  };
  device.cooperative_f16 = any(khr::kFloat16);
  device.cooperative_bf16 = device.cooperative_f16 && bfloat16.shaderBFloat16Type &&
                            bfloat16.shaderBFloat16CooperativeMatrix && any(khr::kBfloat16);
}

}  // namespace primset_vulkan
