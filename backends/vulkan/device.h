// An open device: VkDevice, its one queue, and what the rest of the back end asks of them.
#ifndef PRIMSET_BACKENDS_VULKAN_DEVICE_H_
#define PRIMSET_BACKENDS_VULKAN_DEVICE_H_

#include <primset/plugin.h>

#include <map>
#include <memory>
#include <mutex>

#include "backends/vulkan/errors.h"
#include "backends/vulkan/instance.h"
#include "backends/vulkan/pipeline_cache.h"
#include "backends/vulkan/timeline.h"

namespace primset_vulkan {

// Every allocation is so aligned, whatever the driver promises: wide loads of any kernel.
inline constexpr uint32_t kMemoryAlignment = 256;
// A larger parameter block goes through memory; every device has as many push constant bytes.
inline constexpr uint32_t kMaxPushBytes = 128;
inline constexpr uint32_t kMaxParamBytes = 4096;

// A VkBuffer with memory of its own.
struct Memory {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  uint64_t base = 0;       // offset of the first usable byte, for alignment
  uint64_t address = 0;    // device address of the first usable byte
  char* mapped = nullptr;  // CPU address of the first usable byte
  bool cached = false;     // reading `mapped` is fast
};

// A place in memory for the host's side of copies.
struct HostPlace {
  VkBuffer buffer;
  uint64_t offset;
};

// What memory is for; decides its type.
enum class MemoryUse { device, upload, readback };

}  // namespace primset_vulkan

struct primset_device_t {
  primset_device_t(std::shared_ptr<primset_vulkan::Instance> instance, uint32_t index);
  ~primset_device_t();
  primset_device_t(const primset_device_t&) = delete;
  primset_device_t& operator=(const primset_device_t&) = delete;

  primset_device_properties properties() const;

  primset_vulkan::Memory allocate(uint64_t bytes, primset_vulkan::MemoryUse use);
  void free(primset_vulkan::Memory& memory) noexcept;
  // Memory for the host's side of copies, by its address there, and where it is on the device.
  // Throws BackendError; any thread.
  char* allocate_on_host(uint64_t bytes);
  void free_on_host(char* address) noexcept;
  primset_vulkan::HostPlace host_place(const char* within);

  // Pipelines are made with statistics that the driver can be asked for.
  bool captures_statistics() const;

  // Throws BackendError; any thread.
  void submit(const VkSubmitInfo& info);

  std::shared_ptr<primset_vulkan::Instance> instance;
  const primset_vulkan::PhysicalDevice& physical;
  primset_vulkan::DeviceFunctions vk;
  VkDevice handle = VK_NULL_HANDLE;
  std::unique_ptr<primset_vulkan::PipelineCache> pipelines;
  std::unique_ptr<primset_vulkan::TimelinePool> timelines;

 private:
  void create();
  std::mutex queue_mutex_;
  VkQueue queue_ = VK_NULL_HANDLE;
  std::mutex on_host_mutex_;
  std::map<const char*, primset_vulkan::Memory> on_host_;
};

struct primset_buffer_t {
  primset_buffer_t(primset_device device, uint64_t bytes)
      : memory(device->allocate(bytes, primset_vulkan::MemoryUse::device)), device_(*device) {}
  ~primset_buffer_t() { device_.free(memory); }
  primset_buffer_t(const primset_buffer_t&) = delete;
  primset_buffer_t& operator=(const primset_buffer_t&) = delete;

  uint64_t device_address() const { return memory.address; }

  primset_vulkan::Memory memory;

 private:
  primset_device_t& device_;
};

#endif  // PRIMSET_BACKENDS_VULKAN_DEVICE_H_
