#include "backends/vulkan/pipeline_cache.h"

#include <cstdio>
#include <cstring>

namespace primset_vulkan {
namespace {

// Vulkan's own header: the data is of this driver and device.
bool fits(const std::vector<char>& data, const PhysicalDevice& device) {
  VkPipelineCacheHeaderVersionOne header;
  if (data.size() < sizeof(header)) return false;
  std::memcpy(&header, data.data(), sizeof(header));
  return header.headerSize >= sizeof(header) &&
         header.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE &&
         header.vendorID == device.vendor_id && header.deviceID == device.device_id &&
         std::memcmp(header.pipelineCacheUUID, device.cache_uuid, VK_UUID_SIZE) == 0;
}

std::string target_of(const PhysicalDevice& device) {
  std::string target;
  for (uint8_t byte : device.cache_uuid) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", byte);
    target += digits;
  }
  return target;
}

}  // namespace

PipelineCache::PipelineCache(const DeviceFunctions& vk, VkDevice device,
                             const PhysicalDevice& physical, const primset_host* host)
    : vk_(vk), device_(device), physical_(physical), files_(host, target_of(physical)) {}

VkResult PipelineCache::create(const VkComputePipelineCreateInfo& info, std::string_view spirv,
                               VkPipeline* pipeline) const {
  const auto create = [&](VkPipelineCache cache) {
    return vk_.vkCreateComputePipelines(device_, cache, 1, &info, nullptr, pipeline);
  };
  if (!files_.on()) return create(VK_NULL_HANDLE);
  const std::vector<char> old = found(spirv);
  VkPipelineCacheCreateInfo cache_info{};
  cache_info.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
  cache_info.initialDataSize = old.size();
  cache_info.pInitialData = old.empty() ? nullptr : old.data();
  VkPipelineCache cache = VK_NULL_HANDLE;
  // Without a cache it takes longer, and that is all.
  if (vk_.vkCreatePipelineCache(device_, &cache_info, nullptr, &cache) != VK_SUCCESS)
    return create(VK_NULL_HANDLE);
  const VkResult result = create(cache);
  if (result >= 0 && files_.stores()) store(spirv, cache, old);
  vk_.vkDestroyPipelineCache(device_, cache, nullptr);
  return result;
}

std::vector<char> PipelineCache::found(std::string_view spirv) const {
  std::vector<char> data = files_.find(spirv);
  if (!fits(data, physical_)) data.clear();
  return data;
}

void PipelineCache::store(std::string_view spirv, VkPipelineCache cache,
                          const std::vector<char>& old) const {
  size_t size = 0;
  if (vk_.vkGetPipelineCacheData(device_, cache, &size, nullptr) != VK_SUCCESS) return;
  std::vector<char> data(size);
  if (vk_.vkGetPipelineCacheData(device_, cache, &size, data.data()) != VK_SUCCESS) return;
  data.resize(size);
  if (data != old) files_.store(spirv, {data.data(), data.size()});
}

}  // namespace primset_vulkan
