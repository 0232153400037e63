#include "backends/level_zero/transfer.h"

#include "backends/common/staging.h"
#include "backends/level_zero/stream.h"

namespace primset_level_zero {
namespace {

uint64_t device_address(primset_device, primset_buffer buffer) {
  return buffer->address;
}

}  // namespace

const primset_device_addresses kDeviceAddresses = {sizeof(primset_device_addresses), 0,
                                                   device_address};

primset_status* memory_alloc(primset_device device, uint64_t bytes, primset_buffer* out_buffer) {
  *out_buffer = nullptr;
  return guarded("memory_alloc", [&] {
    auto buffer = std::make_unique<primset_buffer_t>();
    buffer->address = device->allocate(bytes);
    *out_buffer = buffer.release();
  });
}

void memory_free(primset_device device, primset_buffer buffer) {
  device->free(buffer->address);
  delete buffer;
}

primset_status* copy_in(primset_stream stream, primset_buffer buffer, uint64_t offset,
                        const void* source, uint64_t bytes) {
  if (bytes == 0) return nullptr;
  return guarded("copy_in", [&] {
    primset_backend::upload(*stream, buffer->address, offset, static_cast<const char*>(source),
                            bytes);
  });
}

primset_status* copy_out(primset_stream stream, primset_buffer buffer, uint64_t offset,
                         void* target, uint64_t bytes) {
  if (bytes == 0) return nullptr;
  return guarded("copy_out", [&] {
    primset_backend::download(*stream, buffer->address, offset, static_cast<char*>(target), bytes);
  });
}

primset_status* copy(primset_stream stream, primset_buffer target, uint64_t target_offset,
                     primset_buffer source, uint64_t source_offset, uint64_t bytes) {
  if (bytes == 0) return nullptr;
  return guarded("copy", [&] {
    stream->commands().order();
    stream->commands().copy(target->address + target_offset, source->address + source_offset,
                            bytes);
  });
}

primset_status* fill(primset_stream stream, primset_buffer buffer, uint64_t offset, uint64_t bytes,
                     const void* pattern, uint32_t pattern_bytes) {
  if (bytes == 0) return nullptr;
  return guarded("fill", [&] {
    const uint32_t period =
        primset_backend::period(static_cast<const unsigned char*>(pattern), pattern_bytes);
    stream->commands().order();
    stream->commands().fill(buffer->address + offset, bytes, pattern, period);
  });
}

}  // namespace primset_level_zero
