// The Vulkan functions this back end calls, found at run time: the plugin loads on machines without
// Vulkan, and then has no devices.
#ifndef PRIMSET_BACKENDS_VULKAN_FUNCTIONS_H_
#define PRIMSET_BACKENDS_VULKAN_FUNCTIONS_H_

#define VK_NO_PROTOTYPES 1
#include <vulkan/vulkan.h>

#define PRIMSET_VK_GLOBAL(X)    \
  X(vkCreateInstance)           \
  X(vkEnumerateInstanceVersion) \
  X(vkEnumerateInstanceLayerProperties)

#define PRIMSET_VK_INSTANCE(X)                \
  X(vkDestroyInstance)                        \
  X(vkEnumeratePhysicalDevices)               \
  X(vkEnumerateDeviceExtensionProperties)     \
  X(vkGetPhysicalDeviceFeatures2)             \
  X(vkGetPhysicalDeviceProperties2)           \
  X(vkGetPhysicalDeviceMemoryProperties)      \
  X(vkGetPhysicalDeviceQueueFamilyProperties) \
  X(vkCreateDevice)                           \
  X(vkGetDeviceProcAddr)

#define PRIMSET_VK_DEVICE(X)       \
  X(vkAllocateCommandBuffers)      \
  X(vkAllocateMemory)              \
  X(vkBeginCommandBuffer)          \
  X(vkBindBufferMemory)            \
  X(vkCmdBindPipeline)             \
  X(vkCmdCopyBuffer)               \
  X(vkCmdDispatch)                 \
  X(vkCmdFillBuffer)               \
  X(vkCmdPipelineBarrier)          \
  X(vkCmdPushConstants)            \
  X(vkCreateBuffer)                \
  X(vkCreateCommandPool)           \
  X(vkCreateComputePipelines)      \
  X(vkCreatePipelineCache)         \
  X(vkCreatePipelineLayout)        \
  X(vkCreateSemaphore)             \
  X(vkCreateShaderModule)          \
  X(vkDestroyBuffer)               \
  X(vkDestroyCommandPool)          \
  X(vkDestroyDevice)               \
  X(vkDestroyPipeline)             \
  X(vkDestroyPipelineCache)        \
  X(vkDestroyPipelineLayout)       \
  X(vkDestroySemaphore)            \
  X(vkDestroyShaderModule)         \
  X(vkDeviceWaitIdle)              \
  X(vkEndCommandBuffer)            \
  X(vkFreeMemory)                  \
  X(vkGetBufferDeviceAddress)      \
  X(vkGetBufferMemoryRequirements) \
  X(vkGetDeviceQueue)              \
  X(vkGetPipelineCacheData)        \
  X(vkGetSemaphoreCounterValue)    \
  X(vkMapMemory)                   \
  X(vkQueueSubmit)                 \
  X(vkWaitSemaphores)

namespace primset_vulkan {

#define PRIMSET_VK_MEMBER(name) PFN_##name name = nullptr;

struct GlobalFunctions {
  PFN_vkGetInstanceProcAddr vkGetInstanceProcAddr = nullptr;
  PRIMSET_VK_GLOBAL(PRIMSET_VK_MEMBER)

  // Opens libvulkan.so.1 and keeps it; false when there is none, or it is older than Vulkan 1.1.
  bool load();
};

struct InstanceFunctions {
  PRIMSET_VK_INSTANCE(PRIMSET_VK_MEMBER)
  // Optional: VK_EXT_debug_utils.
  PFN_vkCreateDebugUtilsMessengerEXT vkCreateDebugUtilsMessengerEXT = nullptr;
  PFN_vkDestroyDebugUtilsMessengerEXT vkDestroyDebugUtilsMessengerEXT = nullptr;

  // Throws std::runtime_error that names a missing function.
  void load(const GlobalFunctions& global, VkInstance instance);
};

struct DeviceFunctions {
  PRIMSET_VK_DEVICE(PRIMSET_VK_MEMBER)
  // Null unless the device was opened with VK_KHR_pipeline_executable_properties.
  PFN_vkGetPipelineExecutablePropertiesKHR vkGetPipelineExecutablePropertiesKHR = nullptr;
  PFN_vkGetPipelineExecutableStatisticsKHR vkGetPipelineExecutableStatisticsKHR = nullptr;

  void load(const InstanceFunctions& instance, VkDevice device);
};

#undef PRIMSET_VK_MEMBER

}  // namespace primset_vulkan

#endif  // PRIMSET_BACKENDS_VULKAN_FUNCTIONS_H_
