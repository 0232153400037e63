// The pinned memory of one device (PRIMSET_EXT_PINNED_MEMORY), in blocks that are kept and reused:
// to lock pages takes as long as to copy them. A block that copies use is given again once they are
// complete. Sizes in bytes. Thread safe.
#ifndef PRIMSET_SDK_RUNTIME_DEVICE_PINNED_POOL_H_
#define PRIMSET_SDK_RUNTIME_DEVICE_PINNED_POOL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "sdk/runtime/plugin/device.h"

namespace primset::runtime {

class PinnedPool {
 public:
  explicit PinnedPool(const plugin::PluginDevice& device) : device_(device) {}
  PinnedPool(const PinnedPool&) = delete;
  PinnedPool& operator=(const PinnedPool&) = delete;

  // bytes > 0; contents are undefined. Throws Error{not_implemented} where the device has no pinned
  // memory, Error{out_of_memory}.
  std::byte* allocate(uint64_t bytes);
  // `memory` is of allocate.
  void release(std::byte* memory) noexcept;
  // Whether the range lies within memory of allocate that was not released.
  bool contains(const void* memory, uint64_t bytes) const;
  // The stream, whose lock the caller holds, was just given a copy from or to memory of allocate.
  void used_by(const void* memory, const plugin::StreamHandle& stream);
  // Gives the blocks back that nobody has and no copy uses.
  void empty_cache();

 private:
  struct Pinned {
    plugin::PinnedHandle memory;
    bool taken = true;
    std::vector<plugin::EventHandle> copies;  // after each that may still run
  };
  using Blocks = std::map<const std::byte*, Pinned>;

  static uint64_t rounded(uint64_t bytes);
  std::byte* find_free(uint64_t bytes);
  bool is_passed(Pinned& block);
  Blocks::iterator find(const void* memory, uint64_t bytes);
  void free_unused();

  const plugin::PluginDevice& device_;
  mutable std::mutex mutex_;
  Blocks blocks_;
  std::array<std::vector<std::byte*>, 64> free_;  // by the logarithm of the rounded size
  std::vector<plugin::EventHandle> spare_;
};

// Whether the range is pinned memory of any open device.
bool is_pinned_memory(const void* memory, uint64_t bytes);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_DEVICE_PINNED_POOL_H_
