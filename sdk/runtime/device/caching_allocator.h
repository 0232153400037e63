// The caching allocator of one device. Small requests are slots of slabs, a slab for each size
// class; large ones are plugin buffers of their own, with rounded sizes so that they can be reused.
// Freed memory belongs to the stream that used it last and is reused on that stream without
// waiting, since a stream runs in order (docs/decisions/stream_order.md).
//
// When the plugin is out of memory, all cached memory is freed and the request is tried once more.
// Sizes and offsets are in bytes. Thread safe.
#ifndef PRIMSET_SDK_RUNTIME_DEVICE_CACHING_ALLOCATOR_H_
#define PRIMSET_SDK_RUNTIME_DEVICE_CACHING_ALLOCATOR_H_

#include <primset/plugin.h>
#include <primset/statistics.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "sdk/runtime/plugin/device.h"

namespace primset::runtime {

// A slab of equal slots, or one large buffer (one slot).
struct Segment {
  plugin::DeviceBuffer buffer;
  std::byte* host = nullptr;
  uint64_t slot_bytes = 0;
  uint32_t slots = 1, used = 0;
  uint32_t size_class = 0;
};

// Allocated device memory. A request of 0 bytes gives an empty block.
struct Block {
  primset_buffer buffer = nullptr;
  uint64_t offset = 0;
  uint64_t bytes = 0;         // as requested
  std::byte* host = nullptr;  // the CPU's address of the block; null where it has none
  Segment* segment = nullptr;
};

class CachingAllocator {
 public:
  // `wait` returns when no stream of the device uses memory any more. `forget` is called before
  // memory is given back to the plugin.
  CachingAllocator(
      const plugin::PluginDevice& device, std::function<void()> wait,
      std::function<void()> forget = [] {});

  // Memory for work on stream number `stream`. Throws Error{out_of_memory}.
  Block allocate(uint64_t bytes, uint32_t stream);
  // `stream`: the one that used it last.
  void release(const Block& block, uint32_t stream);
  // Gives all unused segments back.
  void empty_cache();
  MemoryStatistics statistics() const;

  // The bytes that a request occupies; for tests.
  uint64_t rounded(uint64_t bytes) const;

 private:
  static constexpr uint64_t kSlabBytes = 2 << 20;
  static constexpr uint64_t kSmallLimit = 512 << 10;
  static constexpr uint32_t kClasses = 64;  // four a power of two
  static uint32_t class_of(uint64_t rounded);

  struct FreeSlot {
    Segment* segment;
    uint32_t slot;
  };
  struct Pool {  // of one stream
    std::array<std::vector<FreeSlot>, kClasses> slots;
    std::multimap<uint64_t, Segment*> large;
  };

  Pool& pool(uint32_t stream);
  Block small_block(uint64_t bytes, uint64_t slot_bytes, uint32_t stream);
  Block large_block(uint64_t bytes, uint64_t segment_bytes, uint32_t stream);
  Segment* new_segment(uint64_t bytes);
  void free_unused();
  static Block block_of(Segment* segment, uint32_t slot, uint64_t bytes);
  void account(const Segment& segment, bool taken);

  const plugin::PluginDevice& device_;
  std::function<void()> wait_, forget_;
  uint64_t alignment_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Pool>> pools_;
  std::vector<std::unique_ptr<Segment>> segments_;
  MemoryStatistics statistics_;
};

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_DEVICE_CACHING_ALLOCATOR_H_
