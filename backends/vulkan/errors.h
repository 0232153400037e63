// Inside this back end a Vulkan error is an exception; at the ABI boundary it becomes a status.
#ifndef PRIMSET_BACKENDS_VULKAN_ERRORS_H_
#define PRIMSET_BACKENDS_VULKAN_ERRORS_H_

#include <primset/plugin.h>

#include <string>

#include "backends/common/abi_boundary.h"
#include "backends/common/status.h"
#include "backends/vulkan/functions.h"

namespace primset_vulkan {

// "VK_ERROR_DEVICE_LOST"; for others their number.
std::string result_name(VkResult result);
// The PRIMSET_* code a result becomes.
uint32_t status_code(VkResult result);

class VulkanError : public primset_backend::BackendError {
 public:
  using BackendError::BackendError;
  VulkanError(VkResult result, const char* function)
      : BackendError(status_code(result), std::string(function) + ": " + result_name(result)) {}
};

inline void check(VkResult result, const char* function) {
  if (result < VK_SUCCESS) [[unlikely]]
    throw VulkanError(result, function);
}

using primset_backend::guarded;
using primset_backend::log;

}  // namespace primset_vulkan

#endif  // PRIMSET_BACKENDS_VULKAN_ERRORS_H_
