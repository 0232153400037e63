#include "backends/vulkan/transfer.h"

#include <cstring>

#include "backends/common/staging.h"
#include "backends/vulkan/stream.h"

namespace primset_vulkan {
namespace {

using primset_backend::make_status;

void fill_range(primset_stream_t& stream, const Memory& to, uint64_t offset, uint64_t bytes,
                const unsigned char* pattern, uint32_t pattern_bytes) {
  const uint32_t period = primset_backend::period(pattern, pattern_bytes);
  const uint64_t first = to.base + offset;
  // vkCmdFillBuffer takes multiples of 4 only. The pattern starts anew at `offset`, so that a word
  // at a multiple of 4 may begin inside it: then copies do it.
  if (first % 4 != 0 || bytes < 4 || period > 4)
    return primset_backend::fill_by_copies(stream, to, offset, bytes, pattern, pattern_bytes);
  uint32_t word = 0;
  for (uint32_t i = 0; i < 4; i += period)
    std::memcpy(reinterpret_cast<unsigned char*>(&word) + i, pattern, period);
  const uint64_t whole = bytes / 4 * 4;
  const VkCommandBuffer commands = stream.record(primset_stream_t::Work::copy, true);
  stream.device->vk.vkCmdFillBuffer(commands, to.buffer, first, whole, word);
  stream.recorded();
  if (whole < bytes)
    primset_backend::fill_by_copies(stream, to, offset + whole, bytes - whole, pattern, period);
}

void* host_address(primset_device, primset_buffer buffer) {
  return buffer->memory.mapped;
}

primset_status* host_import(primset_device, void*, uint64_t, primset_buffer* out_buffer) {
  *out_buffer = nullptr;
  return make_status(PRIMSET_UNSUPPORTED, "import: the vulkan plugin uses memory of its own only");
}

uint64_t device_address(primset_device, primset_buffer buffer) {
  return buffer->memory.address;
}

}  // namespace

const primset_host_memory kHostMemory = {sizeof(primset_host_memory), 0, host_address, host_import};
const primset_device_addresses kDeviceAddresses = {sizeof(primset_device_addresses), 0,
                                                   device_address};

primset_status* memory_alloc(primset_device device, uint64_t bytes, primset_buffer* out_buffer) {
  *out_buffer = nullptr;
  return guarded("memory_alloc", [&] {
    auto buffer = std::make_unique<primset_buffer_t>();
    buffer->bytes = bytes;
    buffer->memory = device->allocate(bytes, MemoryUse::device);
    *out_buffer = buffer.release();
  });
}

void memory_free(primset_device device, primset_buffer buffer) {
  device->free(buffer->memory);
  delete buffer;
}

primset_status* copy_in(primset_stream stream, primset_buffer buffer, uint64_t offset,
                        const void* source, uint64_t bytes) {
  if (bytes == 0) return nullptr;
  return guarded("copy_in", [&] {
    // With nothing before it to wait for, the host may write in place.
    if (buffer->memory.mapped && stream->idle())
      std::memcpy(buffer->memory.mapped + offset, source, bytes);
    else
      primset_backend::upload(*stream, buffer->memory, offset, static_cast<const char*>(source),
                              bytes);
  });
}

primset_status* copy_out(primset_stream stream, primset_buffer buffer, uint64_t offset,
                         void* target, uint64_t bytes) {
  if (bytes == 0) return nullptr;
  return guarded("copy_out", [&] {
    if (buffer->memory.mapped && buffer->memory.cached) {
      stream->synchronize();
      std::memcpy(target, buffer->memory.mapped + offset, bytes);
    } else {
      primset_backend::download(*stream, buffer->memory, offset, static_cast<char*>(target), bytes);
    }
  });
}

primset_status* copy(primset_stream stream, primset_buffer target, uint64_t target_offset,
                     primset_buffer source, uint64_t source_offset, uint64_t bytes) {
  if (bytes == 0) return nullptr;
  return guarded("copy", [&] {
    const Memory &to = target->memory, &from = source->memory;
    stream->copy(from.buffer, from.base + source_offset, to.buffer, to.base + target_offset, bytes,
                 true);
  });
}

primset_status* fill(primset_stream stream, primset_buffer buffer, uint64_t offset, uint64_t bytes,
                     const void* pattern, uint32_t pattern_bytes) {
  if (bytes == 0) return nullptr;
  return guarded("fill", [&] {
    fill_range(*stream, buffer->memory, offset, bytes, static_cast<const unsigned char*>(pattern),
               pattern_bytes);
  });
}

}  // namespace primset_vulkan
