// Host-visible memory of a stream: staging for copies, and parameter blocks that do not fit push
// constants.
#ifndef PRIMSET_BACKENDS_VULKAN_STAGING_MEMORY_H_
#define PRIMSET_BACKENDS_VULKAN_STAGING_MEMORY_H_

#include <cstdint>

#include "backends/common/staging/ring.h"
#include "backends/vulkan/device.h"

namespace primset_vulkan {

class StagingMemory {
 public:
  struct Piece {
    char* mapped;
    VkBuffer buffer;
    uint64_t offset;   // in the VkBuffer
    uint64_t address;  // on the device
  };

  StagingMemory(primset_device device, uint64_t bytes, MemoryUse use)
      : ring(bytes), device_(device), memory_(device->allocate(bytes, use)) {}
  ~StagingMemory() { device_->free(memory_); }
  StagingMemory(const StagingMemory&) = delete;
  StagingMemory& operator=(const StagingMemory&) = delete;

  Piece at(uint64_t place) const {
    return {memory_.mapped + place, memory_.buffer, memory_.base + place, memory_.address + place};
  }

  primset_backend::Ring ring;

 private:
  primset_device device_;
  Memory memory_;
};

}  // namespace primset_vulkan

#endif  // PRIMSET_BACKENDS_VULKAN_STAGING_MEMORY_H_
