#include "backends/vulkan/functions.h"

#include <stdexcept>
#include <string>

#include "backends/common/shared_library.h"

namespace primset_vulkan {
namespace {

template <typename F>
void need(F& function, PFN_vkVoidFunction found, const char* name) {
  function = reinterpret_cast<F>(found);
  if (!function) throw std::runtime_error(std::string("the Vulkan driver has no ") + name);
}

}  // namespace

bool GlobalFunctions::load() {
  const primset_backend::SharedLibrary library("libvulkan.so.1");
  if (!library) return false;
  library.want(vkGetInstanceProcAddr, "vkGetInstanceProcAddr");
  if (!vkGetInstanceProcAddr) return false;
#define PRIMSET_VK_LOAD(name) \
  name = reinterpret_cast<PFN_##name>(vkGetInstanceProcAddr(VK_NULL_HANDLE, #name));
  PRIMSET_VK_GLOBAL(PRIMSET_VK_LOAD)
#undef PRIMSET_VK_LOAD
  return vkCreateInstance && vkEnumerateInstanceVersion && vkEnumerateInstanceLayerProperties;
}

void InstanceFunctions::load(const GlobalFunctions& global, VkInstance instance) {
#define PRIMSET_VK_LOAD(name) need(name, global.vkGetInstanceProcAddr(instance, #name), #name);
  PRIMSET_VK_INSTANCE(PRIMSET_VK_LOAD)
#undef PRIMSET_VK_LOAD
#define PRIMSET_VK_LOAD(name) \
  name = reinterpret_cast<PFN_##name>(global.vkGetInstanceProcAddr(instance, #name));
  PRIMSET_VK_LOAD(vkCreateDebugUtilsMessengerEXT)
  PRIMSET_VK_LOAD(vkDestroyDebugUtilsMessengerEXT)
#undef PRIMSET_VK_LOAD
}

void DeviceFunctions::load(const InstanceFunctions& instance, VkDevice device) {
#define PRIMSET_VK_LOAD(name) need(name, instance.vkGetDeviceProcAddr(device, #name), #name);
  PRIMSET_VK_DEVICE(PRIMSET_VK_LOAD)
#undef PRIMSET_VK_LOAD
#define PRIMSET_VK_LOAD(name) \
  name = reinterpret_cast<PFN_##name>(instance.vkGetDeviceProcAddr(device, #name));
  PRIMSET_VK_LOAD(vkGetPipelineExecutablePropertiesKHR)
  PRIMSET_VK_LOAD(vkGetPipelineExecutableStatisticsKHR)
#undef PRIMSET_VK_LOAD
}

}  // namespace primset_vulkan
