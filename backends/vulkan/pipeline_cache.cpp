#include "backends/vulkan/pipeline_cache.h"

#include <cstdio>
#include <cstring>

#include "backends/vulkan/errors.h"

namespace primset_vulkan {
namespace {

using primset_backend::hash_of;

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

std::string path_of(const PhysicalDevice& device, const primset_host* host) {
  std::string name = "vulkan_";
  for (uint8_t byte : device.cache_uuid) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", byte);
    name += digits;
  }
  return primset_backend::cache_path(host, name + ".pipelines");
}

}  // namespace

PipelineCache::PipelineCache(const DeviceFunctions& vk, VkDevice device,
                             const PhysicalDevice& physical, const primset_host* host)
    : vk_(vk),
      device_(device),
      physical_(physical),
      host_(host),
      file_(path_of(physical, host), "PSVKPC02") {
  const std::vector<char> data = read();
  loaded_hash_ = hash_of({data.data(), data.size()});
  VkPipelineCacheCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
  info.initialDataSize = data.size();
  info.pInitialData = data.empty() ? nullptr : data.data();
  check(vk_.vkCreatePipelineCache(device_, &info, nullptr, &cache_), "vkCreatePipelineCache");
}

PipelineCache::~PipelineCache() {
  try {
    write();
  } catch (const std::exception& e) {
    log(host_, PRIMSET_LOG_WARNING, std::string("vulkan: cannot write ") + e.what());
  }
  vk_.vkDestroyPipelineCache(device_, cache_, nullptr);
}

std::vector<char> PipelineCache::read() const {
  if (file_.path().empty()) return {};
  std::vector<char> data = file_.read();
  if (!fits(data, physical_)) data.clear();
  return data;
}

void PipelineCache::write() const {
  if (file_.path().empty()) return;
  size_t size = 0;
  check(vk_.vkGetPipelineCacheData(device_, cache_, &size, nullptr), "vkGetPipelineCacheData");
  std::string data(size, '\0');
  check(vk_.vkGetPipelineCacheData(device_, cache_, &size, data.data()), "vkGetPipelineCacheData");
  data.resize(size);
  if (hash_of(data) != loaded_hash_) file_.write(data);
}

}  // namespace primset_vulkan
