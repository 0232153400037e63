// Inside this back end a Vulkan error is an exception; at the ABI boundary it becomes a status.
#ifndef PRIMSET_BACKENDS_VULKAN_ERRORS_H_
#define PRIMSET_BACKENDS_VULKAN_ERRORS_H_

#include "backends/common/abi_boundary.h"
#include "backends/common/results.h"
#include "backends/common/status.h"
#include "backends/vulkan/functions.h"

namespace primset_vulkan {

extern const primset_backend::Results kResults;

// Throws BackendError.
inline void check(VkResult result, const char* function) {
  if (result < VK_SUCCESS) [[unlikely]]
    kResults.fail(result, function);
}

using primset_backend::BackendError;
using primset_backend::log;

}  // namespace primset_vulkan

#endif  // PRIMSET_BACKENDS_VULKAN_ERRORS_H_
