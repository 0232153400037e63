// Inside this back end a Vulkan error is an exception; at the border it becomes a status.
#ifndef PRIMSET_BACKENDS_VULKAN_ERRORS_H_
#define PRIMSET_BACKENDS_VULKAN_ERRORS_H_

#include <primset/plugin.h>

#include <stdexcept>
#include <string>

#include "backends/common/status.h"
#include "backends/vulkan/functions.h"

namespace primset_vulkan {

// "VK_ERROR_DEVICE_LOST"; for others their number.
std::string result_name(VkResult result);
// The PRIMSET_* code a result becomes.
uint32_t status_code(VkResult result);

class VulkanError : public std::runtime_error {
 public:
  VulkanError(VkResult result, const char* function)
      : runtime_error(std::string(function) + ": " + result_name(result)),
        code_(status_code(result)) {}
  VulkanError(uint32_t code, const std::string& text) : runtime_error(text), code_(code) {}
  uint32_t code() const { return code_; }

 private:
  uint32_t code_;
};

inline void check(VkResult result, const char* function) {
  if (result < VK_SUCCESS) [[unlikely]]
    throw VulkanError(result, function);
}

template <typename F>
primset_status* guarded(const char* function, F&& f) noexcept {
  return primset_backend::guarded(function, [&]() -> primset_status* {
    try {
      f();
      return nullptr;
    } catch (const VulkanError& e) {
      return primset_backend::make_status(e.code(), "%s: %s", function, e.what());
    }
  });
}

}  // namespace primset_vulkan

#endif  // PRIMSET_BACKENDS_VULKAN_ERRORS_H_
