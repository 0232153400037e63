// Modules and launches.
#ifndef PRIMSET_BACKENDS_VULKAN_MODULE_H_
#define PRIMSET_BACKENDS_VULKAN_MODULE_H_

#include <primset/plugin.h>

#include "backends/common/spirv_module.h"
#include "backends/vulkan/device.h"

struct primset_kernel_t {
  primset_kernel_t(primset_device_t& device, const primset_module_desc& desc);
  ~primset_kernel_t();
  primset_kernel_t(const primset_kernel_t&) = delete;
  primset_kernel_t& operator=(const primset_kernel_t&) = delete;

  void launch(primset_stream_t& stream, const primset_launch& launch) const;

  const primset_backend::ParamShape shape;

 private:
  primset_device_t& device_;
  const VkPipelineLayout layout_;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
};

struct primset_module_t : primset_backend::SpirvModule<primset_kernel_t> {
  using SpirvModule::SpirvModule;
};

#endif  // PRIMSET_BACKENDS_VULKAN_MODULE_H_
