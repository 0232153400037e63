#include "sdk/runtime/tensor/storage.h"

#include <fmt/format.h>

#include "sdk/runtime/device/device_state.h"
#include "sdk/runtime/support/log.h"
#include "sdk/runtime/support/process_end.h"

namespace primset {
namespace runtime {

StorageImpl* new_storage(DeviceState& device, StreamState* stream, uint64_t bytes) {
  auto storage = std::make_unique<StorageImpl>();
  storage->device = &device;
  storage->bytes = bytes;
  if (!device.is_meta()) {
    storage->block = device.allocator().allocate(bytes, stream->pool());
    storage->stream.store(stream, std::memory_order_relaxed);
  }
  return storage.release();
}

StorageImpl* new_storage(DeviceState& device, uint64_t bytes) {
  const CallScope scope;
  return new_storage(device, device.is_meta() ? nullptr : &device.current_stream(), bytes);
}

StorageImpl* import_storage(DeviceState& device, void* address, uint64_t bytes,
                            ForeignMemory callbacks) {
  auto storage = std::make_unique<StorageImpl>();
  storage->device = &device;
  storage->bytes = bytes;
  storage->foreign = std::make_unique<ForeignState>();
  if (bytes != 0) {
    ForeignState& foreign = *storage->foreign;
    foreign.buffer = device.plugin().import(address, bytes);
    storage->block = {foreign.buffer.handle(), 0, bytes, static_cast<std::byte*>(address), nullptr};
  }
  storage->foreign->callbacks = std::move(callbacks);
  if (!device.runs_inline()) storage->stream = &device.current_stream();
  return storage.release();
}

void StorageImpl::destroy() {
  if (!device->is_meta() && device->is_of_parent()) return;  // its memory is the parent's
  StreamState* last = stream.load(std::memory_order_relaxed);
  if (foreign) {
    // The owner may unmap the memory: nothing may use it any more. Errors of the work stay with
    // the stream, whose next synchronisation reports them.
    if (last && !device->runs_inline()) {
      StreamLock lock(*last);
      try {
        last->handle().synchronize();
      } catch (const Error& e) {
        log(LogLevel::error, "{}: while releasing foreign memory: {}", device->device().to_string(),
            e.what());
      }
    }
    foreign->buffer.reset();
    if (foreign->callbacks.deleter) foreign->callbacks.deleter();
  } else if (block.segment) {
    device->allocator().release(block, last->pool());
  }
  delete this;
}

namespace {

void grow_foreign(StorageImpl& storage, uint64_t bytes) {
  ForeignState& foreign = *storage.foreign;
  if (!foreign.callbacks.grow)
    throw Error(ErrorCode::runtime,
                fmt::format("Trying to resize storage that is not resizable: it wraps {} bytes of "
                            "foreign memory and {} are needed",
                            storage.bytes, bytes));
  if (StreamState* stream = storage.stream) stream->synchronize();
  void* address = foreign.callbacks.grow(bytes);
  if (!address)
    throw Error(ErrorCode::out_of_memory,
                fmt::format("the owner of foreign memory could not grow it to {} bytes", bytes));
  foreign.buffer = storage.device->plugin().import(address, bytes);
  storage.block = {foreign.buffer.handle(), 0, bytes, static_cast<std::byte*>(address), nullptr};
}

}  // namespace

void grow_storage(StorageImpl& storage, uint64_t bytes) {
  if (bytes <= storage.bytes) return;
  DeviceState& device = *storage.device;
  if (storage.foreign) {
    grow_foreign(storage, bytes);
  } else if (!device.is_meta()) {
    StreamState& stream = *storage.stream.load();
    const Block bigger = device.allocator().allocate(bytes, stream.pool());
    if (storage.bytes != 0) {
      StreamLock lock(stream);
      stream.handle().copy(bigger.buffer, bigger.offset, storage.block.buffer, storage.block.offset,
                           storage.bytes);
      stream.hazards().restart({}, false);
    }
    device.allocator().release(storage.block, stream.pool());
    storage.block = bigger;
  }
  storage.bytes = bytes;
}

}  // namespace runtime

Storage::Storage(runtime::StorageImpl* impl) : impl_(impl) {}
Storage::Storage(const Storage& o) : impl_(o.impl_) {
  if (impl_) impl_->retain();
}
Storage::~Storage() {
  if (impl_) impl_->release();
}
Device Storage::device() const {
  return impl_->device->device();
}
uint64_t Storage::byte_size() const {
  return impl_->bytes;
}
bool Storage::is_foreign() const {
  return impl_->foreign != nullptr;
}
void* Storage::host_address() const {
  return impl_->block.host;
}

}  // namespace primset
