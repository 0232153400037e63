#include "backends/opencl/transfer.h"

#include <memory>

#include "backends/common/staging.h"
#include "backends/opencl/stream.h"

namespace primset_opencl {
namespace {

uint64_t device_address(primset_device, primset_buffer buffer) {
  return address_of(buffer);
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

// The host waits for it in any case, so the driver may read into the target itself.
primset_status* copy_out(primset_stream stream, primset_buffer buffer, uint64_t offset,
                         void* target, uint64_t bytes) {
  if (bytes == 0) return nullptr;
  return guarded("copy_out", [&] {
    check_wait(
        stream->device->memory.clEnqueueMemcpyINTEL(
            stream->queue, CL_TRUE, target, buffer->address + offset, bytes, 0, nullptr, nullptr),
        "clEnqueueMemcpyINTEL");
  });
}

primset_status* copy(primset_stream stream, primset_buffer target, uint64_t target_offset,
                     primset_buffer source, uint64_t source_offset, uint64_t bytes) {
  if (bytes == 0) return nullptr;
  return guarded("copy", [&] {
    check(stream->device->memory.clEnqueueMemcpyINTEL(
              stream->queue, CL_FALSE, target->address + target_offset,
              source->address + source_offset, bytes, 0, nullptr, nullptr),
          "clEnqueueMemcpyINTEL");
  });
}

primset_status* fill(primset_stream stream, primset_buffer buffer, uint64_t offset, uint64_t bytes,
                     const void* pattern, uint32_t pattern_bytes) {
  if (bytes == 0) return nullptr;
  return guarded("fill", [&] {
    check(stream->device->memory.clEnqueueMemFillINTEL(stream->queue, buffer->address + offset,
                                                       pattern, pattern_bytes, bytes, 0, nullptr,
                                                       nullptr),
          "clEnqueueMemFillINTEL");
  });
}

}  // namespace primset_opencl
