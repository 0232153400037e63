// The driver's compiled pipelines, kept on disk from one process to the next.
#ifndef PRIMSET_BACKENDS_VULKAN_PIPELINE_CACHE_H_
#define PRIMSET_BACKENDS_VULKAN_PIPELINE_CACHE_H_

#include <primset/plugin.h>

#include <vector>

#include "backends/common/cache_file.h"
#include "backends/vulkan/instance.h"

namespace primset_vulkan {

// The file is written when the device closes. One that is damaged or of another driver is ignored.
class PipelineCache {
 public:
  PipelineCache(const DeviceFunctions& vk, VkDevice device, const PhysicalDevice& physical,
                const primset_host* host);
  ~PipelineCache();
  PipelineCache(const PipelineCache&) = delete;
  PipelineCache& operator=(const PipelineCache&) = delete;

  VkPipelineCache handle() const { return cache_; }

 private:
  std::vector<char> read() const;
  void write() const;

  const DeviceFunctions& vk_;
  VkDevice device_;
  const PhysicalDevice& physical_;
  const primset_host* host_;
  primset_backend::CacheFile file_;  // its path is empty: not kept
  uint64_t loaded_hash_ = 0;
  VkPipelineCache cache_ = VK_NULL_HANDLE;
};

}  // namespace primset_vulkan

#endif  // PRIMSET_BACKENDS_VULKAN_PIPELINE_CACHE_H_
