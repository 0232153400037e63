#include "backends/vulkan/pipeline_cache.h"

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "backends/vulkan/errors.h"

namespace primset_vulkan {
namespace {

namespace fs = std::filesystem;

constexpr char kMagic[8] = {'P', 'S', 'V', 'K', 'P', 'C', '0', '1'};

// Before the driver's data: drivers trust what they are given, so damage must show here.
struct FileHeader {
  char magic[8];
  uint64_t bytes;
  uint64_t hash;
};

// FNV-1a: against accidents, not against attackers.
uint64_t hash_of(const std::vector<char>& data) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : data) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

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

std::string file_name(const PhysicalDevice& device) {
  std::string name = "vulkan_";
  for (uint8_t byte : device.cache_uuid) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", byte);
    name += digits;
  }
  return name + ".pipelines";
}

}  // namespace

PipelineCache::PipelineCache(const DeviceFunctions& vk, VkDevice device,
                             const PhysicalDevice& physical, const primset_host* host)
    : vk_(vk), device_(device), physical_(physical), host_(host) {
  if (host && host->cache_folder && *host->cache_folder)
    file_ = (fs::path(host->cache_folder) / file_name(physical)).string();
  const std::vector<char> data = read();
  loaded_hash_ = hash_of(data);
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
    log(host_, PRIMSET_LOG_WARNING, "vulkan: cannot write " + file_ + ": " + e.what());
  }
  vk_.vkDestroyPipelineCache(device_, cache_, nullptr);
}

std::vector<char> PipelineCache::read() const {
  if (file_.empty()) return {};
  std::ifstream in(file_, std::ios::binary);
  FileHeader header;
  if (!in.read(reinterpret_cast<char*>(&header), sizeof(header))) return {};
  std::error_code error;
  const uintmax_t size = fs::file_size(file_, error);
  if (error || std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0 ||
      header.bytes != size - sizeof(header))
    return {};
  std::vector<char> data(header.bytes);
  if (!in.read(data.data(), static_cast<std::streamsize>(data.size()))) return {};
  if (hash_of(data) != header.hash || !fits(data, physical_)) return {};
  return data;
}

void PipelineCache::write() const {
  if (file_.empty()) return;
  size_t size = 0;
  check(vk_.vkGetPipelineCacheData(device_, cache_, &size, nullptr), "vkGetPipelineCacheData");
  std::vector<char> data(size);
  check(vk_.vkGetPipelineCacheData(device_, cache_, &size, data.data()), "vkGetPipelineCacheData");
  data.resize(size);
  FileHeader header{{}, data.size(), hash_of(data)};
  if (header.hash == loaded_hash_) return;
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  fs::create_directories(fs::path(file_).parent_path());
  const std::string temporary = file_ + "." + std::to_string(getpid()) + "." +
                                std::to_string(reinterpret_cast<uintptr_t>(this));
  std::ofstream out(temporary, std::ios::binary);
  out.write(reinterpret_cast<const char*>(&header), sizeof(header));
  out.write(data.data(), static_cast<std::streamsize>(data.size()));
  out.close();
  if (!out) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw std::runtime_error("write failed");
  }
  fs::rename(temporary, file_);
}

}  // namespace primset_vulkan
