// Host-visible memory handed out front to back and taken back as the stream's work completes:
// staging for copies, and parameter blocks that do not fit push constants.
#ifndef PRIMSET_BACKENDS_VULKAN_RING_H_
#define PRIMSET_BACKENDS_VULKAN_RING_H_

#include <cstdint>
#include <deque>

#include "backends/vulkan/device.h"

namespace primset_vulkan {

class Ring {
 public:
  struct Piece {
    char* mapped;
    VkBuffer buffer;
    uint64_t offset;   // in the VkBuffer
    uint64_t address;  // on the device
  };

  Ring(primset_device device, uint64_t bytes, MemoryUse use)
      : device_(device), bytes_(bytes), memory_(device->allocate(bytes, use)) {}
  ~Ring() { device_->free(memory_); }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  uint64_t bytes() const { return bytes_; }
  // False when there is no room until more work completes; bytes <= bytes().
  bool take(uint64_t bytes, Piece& out);
  // All pieces taken so far are in use until the stream's counter reaches `value`.
  void mark(uint64_t value);
  // The stream's counter has reached `value`.
  void release(uint64_t value);
  // The counter value that frees the oldest pieces; 0 when none are marked.
  uint64_t oldest() const { return marks_.empty() ? 0 : marks_.front().value; }

 private:
  static constexpr uint64_t kAlignment = 64;
  struct Mark {
    uint64_t value, head;
  };

  primset_device device_;
  uint64_t bytes_;
  Memory memory_;
  // Positions only grow; a position's place is its remainder by bytes_.
  uint64_t head_ = 0, tail_ = 0;
  std::deque<Mark> marks_;
};

}  // namespace primset_vulkan

#endif  // PRIMSET_BACKENDS_VULKAN_RING_H_
