#include "backends/cuda/transfer.h"

#include <cstring>

#include "backends/common/staging.h"
#include "backends/cuda/stream.h"

namespace primset_cuda {
namespace {

// The pattern as a number, for the driver's own fills of 1, 2 and 4 bytes.
template <typename T>
T value_of(const unsigned char* pattern) {
  T value;
  std::memcpy(&value, pattern, sizeof(value));
  return value;
}

void fill_range(primset_stream_t& stream, DevicePointer to, uint64_t bytes,
                const unsigned char* pattern, uint32_t pattern_bytes) {
  const DriverApi& cu = stream.cu;
  switch (primset_backend::period(pattern, pattern_bytes)) {
    case 1:
      PRIMSET_CUDA(cu, cuMemsetD8Async, to, *pattern, bytes, stream.handle);
      break;
    case 2:
      PRIMSET_CUDA(cu, cuMemsetD16Async, to, value_of<uint16_t>(pattern), bytes / 2, stream.handle);
      break;
    case 4:
      PRIMSET_CUDA(cu, cuMemsetD32Async, to, value_of<uint32_t>(pattern), bytes / 4, stream.handle);
      break;
    default:
      primset_backend::fill_by_copies(stream, to, 0, bytes, pattern, pattern_bytes);
  }
}

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
    const ContextScope scope(*stream->device);
    primset_backend::upload(*stream, buffer->address, offset, static_cast<const char*>(source),
                            bytes);
  });
}

primset_status* copy_out(primset_stream stream, primset_buffer buffer, uint64_t offset,
                         void* target, uint64_t bytes) {
  if (bytes == 0) return nullptr;
  return guarded("copy_out", [&] {
    const ContextScope scope(*stream->device);
    primset_backend::download(*stream, buffer->address, offset, static_cast<char*>(target), bytes);
  });
}

primset_status* copy(primset_stream stream, primset_buffer target, uint64_t target_offset,
                     primset_buffer source, uint64_t source_offset, uint64_t bytes) {
  if (bytes == 0) return nullptr;
  return guarded("copy", [&] {
    const ContextScope scope(*stream->device);
    PRIMSET_CUDA(stream->cu, cuMemcpyDtoDAsync_v2, target->address + target_offset,
                 source->address + source_offset, bytes, stream->handle);
  });
}

primset_status* fill(primset_stream stream, primset_buffer buffer, uint64_t offset, uint64_t bytes,
                     const void* pattern, uint32_t pattern_bytes) {
  if (bytes == 0) return nullptr;
  return guarded("fill", [&] {
    const ContextScope scope(*stream->device);
    fill_range(*stream, buffer->address + offset, bytes, static_cast<const unsigned char*>(pattern),
               pattern_bytes);
  });
}

}  // namespace primset_cuda
