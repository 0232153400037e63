// The driver's compiled pipelines, cached on disk from one process to the next.
#ifndef PRIMSET_BACKENDS_VULKAN_PIPELINE_CACHE_H_
#define PRIMSET_BACKENDS_VULKAN_PIPELINE_CACHE_H_

#include <primset/plugin.h>

#include <string_view>
#include <vector>

#include "backends/common/compiled_cache.h"
#include "backends/vulkan/instance.h"

namespace primset_vulkan {

// A VkPipelineCache for each pipeline, in a file of its own. A file that the driver has no use for
// is replaced.
class PipelineCache {
 public:
  PipelineCache(const DeviceFunctions& vk, VkDevice device, const PhysicalDevice& physical,
                const primset_host* host);

  // As vkCreateComputePipelines for one pipeline of this SPIR-V; any thread.
  VkResult create(const VkComputePipelineCreateInfo& info, std::string_view spirv,
                  VkPipeline* pipeline) const;

 private:
  std::vector<char> found(std::string_view spirv) const;
  void store(std::string_view spirv, VkPipelineCache cache, const std::vector<char>& old) const;

  const DeviceFunctions& vk_;
  VkDevice device_;
  const PhysicalDevice& physical_;
  primset_backend::CompiledCache files_;
};

}  // namespace primset_vulkan

#endif  // PRIMSET_BACKENDS_VULKAN_PIPELINE_CACHE_H_
