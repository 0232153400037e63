// What the back end says of a device in its properties, as far as it follows from what Vulkan says.
#ifndef PRIMSET_BACKENDS_VULKAN_CLAIMS_H_
#define PRIMSET_BACKENDS_VULKAN_CLAIMS_H_

#include <primset/plugin.h>

#include "backends/vulkan/instance.h"

namespace primset_vulkan {

// PRIMSET_FEATURE_*
uint32_t kernel_features(const PhysicalDevice& d);
// PRIMSET_NUMERIC_*
uint32_t numerics(const PhysicalDevice& d);

}  // namespace primset_vulkan

#endif  // PRIMSET_BACKENDS_VULKAN_CLAIMS_H_
