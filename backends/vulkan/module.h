// Modules and launches.
#ifndef PRIMSET_BACKENDS_VULKAN_MODULE_H_
#define PRIMSET_BACKENDS_VULKAN_MODULE_H_

#include <primset/plugin.h>

#include "backends/common/abi_boundary.h"
#include "backends/vulkan/device.h"

struct primset_kernel_t {
  VkPipeline pipeline = VK_NULL_HANDLE;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  primset_backend::ParamShape shape;
};

struct primset_module_t {
  primset_kernel_t kernel;
};

namespace primset_vulkan {

primset_status* module_load(primset_device device, const primset_module_desc* desc,
                            primset_module* out_module);
void module_unload(primset_device device, primset_module module);
primset_status* module_kernel(primset_module module, primset_kernel* out_kernel);
primset_status* launch(primset_stream stream, const primset_launch* launch);

}  // namespace primset_vulkan

#endif  // PRIMSET_BACKENDS_VULKAN_MODULE_H_
