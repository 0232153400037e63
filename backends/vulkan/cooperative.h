// VK_KHR_cooperative_matrix and VK_KHR_shader_bfloat16, which Vulkan's headers of Debian 12 do not
// have yet: names and numbers are those of the registry.
#ifndef PRIMSET_BACKENDS_VULKAN_COOPERATIVE_H_
#define PRIMSET_BACKENDS_VULKAN_COOPERATIVE_H_

#include "backends/vulkan/functions.h"

namespace primset_vulkan {

struct PhysicalDevice;

namespace khr {

inline constexpr const char* kCooperativeMatrix = "VK_KHR_cooperative_matrix";
inline constexpr const char* kShaderBfloat16 = "VK_KHR_shader_bfloat16";

struct CooperativeMatrixFeatures {
  VkStructureType sType = static_cast<VkStructureType>(1000506000);
  void* pNext = nullptr;
  VkBool32 cooperativeMatrix = VK_FALSE;
  VkBool32 cooperativeMatrixRobustBufferAccess = VK_FALSE;
};

struct ShaderBfloat16Features {
  VkStructureType sType = static_cast<VkStructureType>(1000141000);
  void* pNext = nullptr;
  VkBool32 shaderBFloat16Type = VK_FALSE;
  VkBool32 shaderBFloat16DotProduct = VK_FALSE;
  VkBool32 shaderBFloat16CooperativeMatrix = VK_FALSE;
};

// VkComponentTypeKHR and VkScopeKHR.
inline constexpr uint32_t kFloat16 = 0, kFloat32 = 1, kBfloat16 = 1000141000;
inline constexpr uint32_t kSubgroupScope = 3;

// VkCooperativeMatrixPropertiesKHR
struct CooperativeMatrixProperties {
  VkStructureType sType = static_cast<VkStructureType>(1000506001);
  void* pNext = nullptr;
  uint32_t MSize = 0, NSize = 0, KSize = 0;
  uint32_t AType = 0, BType = 0, CType = 0, ResultType = 0;
  VkBool32 saturatingAccumulation = VK_FALSE;
  uint32_t scope = 0;
};

using GetCooperativeMatrixProperties = VkResult(VKAPI_PTR*)(VkPhysicalDevice, uint32_t*,
                                                            CooperativeMatrixProperties*);

}  // namespace khr

// Sets device.cooperative_f16 and _bf16: does it multiply 16 x 16 matrices of such elements, by
// subgroups of 32, onto sums of f32? After its other features and properties are read.
void read_cooperative(const InstanceFunctions& vk, PFN_vkGetInstanceProcAddr functions,
                      VkInstance instance, PhysicalDevice& device);

}  // namespace primset_vulkan

#endif  // PRIMSET_BACKENDS_VULKAN_COOPERATIVE_H_
