// Copies and fills of a stream.
#include <cstring>

#include "backends/common/staging/staging.h"
#include "backends/vulkan/stream.h"

void primset_stream_t::copy_in(const primset_buffer_t& buffer, uint64_t offset, const void* source,
                               uint64_t bytes) {
  // With nothing before it to wait for, the host may write in place.
  if (buffer.memory.mapped && idle())
    std::memcpy(buffer.memory.mapped + offset, source, bytes);
  else
    primset_backend::upload(*this, buffer.memory, offset, static_cast<const char*>(source), bytes);
}

void primset_stream_t::copy_out(const primset_buffer_t& buffer, uint64_t offset, void* target,
                                uint64_t bytes) {
  if (buffer.memory.mapped && buffer.memory.cached) {
    synchronize();
    std::memcpy(target, buffer.memory.mapped + offset, bytes);
  } else {
    primset_backend::download(*this, buffer.memory, offset, static_cast<char*>(target), bytes);
  }
}

void primset_stream_t::copy_in_pinned(const primset_buffer_t& buffer, uint64_t offset,
                                      const void* source, uint64_t bytes) {
  const auto from = device->host_place(static_cast<const char*>(source));
  const primset_vulkan::Memory& to = buffer.memory;
  copy(from.buffer, from.offset, to.buffer, to.base + offset, bytes, true);
  flush();
}

void primset_stream_t::copy_out_pinned(const primset_buffer_t& buffer, uint64_t offset,
                                       void* target, uint64_t bytes) {
  const auto to = device->host_place(static_cast<const char*>(target));
  const primset_vulkan::Memory& from = buffer.memory;
  copy(from.buffer, from.base + offset, to.buffer, to.offset, bytes, true);
  flush();
}

void primset_stream_t::copy(const primset_buffer_t& target, uint64_t target_offset,
                            const primset_buffer_t& source, uint64_t source_offset,
                            uint64_t bytes) {
  const primset_vulkan::Memory &to = target.memory, &from = source.memory;
  copy(from.buffer, from.base + source_offset, to.buffer, to.base + target_offset, bytes, true);
}

void primset_stream_t::fill(const primset_buffer_t& buffer, uint64_t offset, uint64_t bytes,
                            const unsigned char* pattern, uint32_t pattern_bytes) {
  const primset_vulkan::Memory& to = buffer.memory;
  const uint32_t period = primset_backend::period(pattern, pattern_bytes);
  const uint64_t first = to.base + offset;
  // vkCmdFillBuffer takes multiples of 4 only. The pattern starts anew at `offset`, so that a word
  // at a multiple of 4 may begin inside it: then copies do it.
  if (first % 4 != 0 || bytes < 4 || period > 4)
    return primset_backend::fill_by_copies(*this, to, offset, bytes, pattern, pattern_bytes);
  uint32_t word = 0;
  for (uint32_t i = 0; i < 4; i += period)
    std::memcpy(reinterpret_cast<unsigned char*>(&word) + i, pattern, period);
  const uint64_t whole = bytes / 4 * 4;
  device->vk.vkCmdFillBuffer(record(Work::copy, true), to.buffer, first, whole, word);
  recorded();
  if (whole < bytes)
    primset_backend::fill_by_copies(*this, to, offset + whole, bytes - whole, pattern, period);
}
