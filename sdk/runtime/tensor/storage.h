// Typeless device memory with an identity, shared by the tensors that are views of it.
#ifndef PRIMSET_SDK_RUNTIME_TENSOR_STORAGE_H_
#define PRIMSET_SDK_RUNTIME_TENSOR_STORAGE_H_

#include <primset/tensor.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "sdk/runtime/device/caching_allocator.h"
#include "sdk/runtime/plugin/device.h"

namespace primset::runtime {

class DeviceState;
class StreamState;

// Memory that the caller owns: its callbacks and the imported buffer.
struct ForeignState {
  ForeignMemory callbacks;
  plugin::DeviceBuffer buffer;  // the import
};

struct StorageImpl {
  std::atomic<uint32_t> references{1};
  DeviceState* device = nullptr;
  Block block;         // meta: empty
  uint64_t bytes = 0;  // size, also on the meta device
  // The stream that used it last; another stream waits for it before it uses the storage.
  std::atomic<StreamState*> stream{nullptr};
  std::unique_ptr<ForeignState> foreign;

  void retain() { references.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }

 private:
  void destroy();
};

// New memory, to be used on `stream` first. Throws Error{out_of_memory}.
StorageImpl* new_storage(DeviceState& device, StreamState* stream, uint64_t bytes);
// On the device's current stream.
StorageImpl* new_storage(DeviceState& device, uint64_t bytes);
// Wraps the caller's memory; throws Error{not_implemented} where the device cannot import it.
StorageImpl* import_storage(DeviceState& device, void* address, uint64_t bytes,
                            ForeignMemory callbacks);
// Makes the storage hold at least `bytes`, keeping its contents and identity. Foreign memory asks
// its owner; without one to ask this throws Error{runtime}.
void grow_storage(StorageImpl& storage, uint64_t bytes);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_TENSOR_STORAGE_H_
