// The Vulkan instance and the physical devices that can run Primset's kernels.
#ifndef PRIMSET_BACKENDS_VULKAN_INSTANCE_H_
#define PRIMSET_BACKENDS_VULKAN_INSTANCE_H_

#include <primset/plugin.h>

#include <atomic>
#include <string>
#include <vector>

#include "backends/common/shared_driver.h"
#include "backends/vulkan/functions.h"

namespace primset_vulkan {

// What of a physical device matters here, asked once.
struct PhysicalDevice {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  uint32_t queue_family = 0;
  bool atomic_float = false;  // VK_EXT_shader_atomic_float with f32 addition on buffers
  VkPhysicalDeviceFeatures features{};
  VkPhysicalDeviceVulkan11Features features11{};
  VkPhysicalDeviceVulkan12Features features12{};
  VkPhysicalDeviceLimits limits{};
  VkPhysicalDeviceType type = VK_PHYSICAL_DEVICE_TYPE_OTHER;
  std::string name;
  uint32_t vendor_id = 0, device_id = 0;
  uint8_t cache_uuid[VK_UUID_SIZE] = {};
  VkDriverId driver = static_cast<VkDriverId>(0);
  // Float widths, as the sum 16 | 32 | 64, that have an execution mode of float controls.
  uint32_t keep_nan_widths = 0, round_even_widths = 0, keep_denorm_widths = 0;
  uint32_t min_subgroup = 1, max_subgroup = 1;
  bool statistics = false;       // VK_KHR_pipeline_executable_properties
  bool subgroup_ballot = false;  // ballots and shuffles, in compute shaders
  // VK_KHR_cooperative_matrix: products of 16 x 16 such elements by subgroups of 32.
  bool cooperative_f16 = false, cooperative_bf16 = false;
  VkPhysicalDeviceMemoryProperties memory{};
};

bool has_extension(const InstanceFunctions& vk, VkPhysicalDevice device, const char* name);

class Instance : public primset_backend::DeviceList<PhysicalDevice> {
 public:
  // Without Vulkan on the machine there are no devices; that is no error. Throws BackendError for
  // anything else that fails.
  explicit Instance(const primset_host* host);
  ~Instance();

  const InstanceFunctions& vk() const { return vk_; }

 private:
  void create(bool validation);
  void find_devices();

  GlobalFunctions global_;
  InstanceFunctions vk_;
  VkInstance instance_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
};

}  // namespace primset_vulkan

#endif  // PRIMSET_BACKENDS_VULKAN_INSTANCE_H_
