// What the driver says of the kernels that it compiled: registers, memory for what did not fit in
// them, size of the code. PRIMSET_VULKAN_STATISTICS=1 has it logged, as messages of the level
// "info", where the driver has VK_KHR_pipeline_executable_properties. Pipelines made so are larger,
// and cached apart from others.
#ifndef PRIMSET_BACKENDS_VULKAN_STATISTICS_H_
#define PRIMSET_BACKENDS_VULKAN_STATISTICS_H_

#include <string>

#include "backends/vulkan/functions.h"

namespace primset_vulkan {

// As PRIMSET_VULKAN_STATISTICS says.
bool statistics_wanted();

// For a pipeline made with VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR: "Register Count 40, Local
// Memory Size 0", as the driver names them. Empty where it says nothing.
std::string statistics_of(const DeviceFunctions& vk, VkDevice device, VkPipeline pipeline);

}  // namespace primset_vulkan

#endif  // PRIMSET_BACKENDS_VULKAN_STATISTICS_H_
