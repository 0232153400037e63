#include "backends/vulkan/transfer.h"

#include <algorithm>
#include <cstring>

#include "backends/vulkan/stream.h"

namespace primset_vulkan {
namespace {

using primset_backend::make_status;

// A large copy goes through the staging ring in pieces: while one is copied by the device, the host
// works on the next.
constexpr uint64_t kPiece = primset_stream_t::kRingBytes / 4;

void copy_command(primset_stream_t& stream, VkBuffer from, uint64_t from_offset, VkBuffer to,
                  uint64_t to_offset, uint64_t bytes, bool ordered) {
  const VkBufferCopy region{from_offset, to_offset, bytes};
  const VkCommandBuffer commands = stream.record(ordered);
  stream.device->vk.vkCmdCopyBuffer(commands, from, to, 1, &region);
}

void upload(primset_stream_t& stream, const Memory& to, uint64_t offset, const char* source,
            uint64_t bytes) {
  for (uint64_t done = 0; done < bytes; done += kPiece) {
    const uint64_t n = std::min(kPiece, bytes - done);
    const Ring::Piece piece = stream.upload(n);
    std::memcpy(piece.mapped, source + done, n);
    copy_command(stream, piece.buffer, piece.offset, to.buffer, to.base + offset + done, n,
                 done == 0);
    stream.recorded();
    if (n == kPiece) stream.flush();  // the device starts while the host fills the next piece
  }
}

void download(primset_stream_t& stream, const Memory& from, uint64_t offset, char* target,
              uint64_t bytes) {
  struct Pending {
    char* mapped = nullptr;
    uint64_t value = 0, done = 0, bytes = 0;
  } last;
  const auto finish = [&](const Pending& p) {
    if (p.bytes == 0) return;
    stream.wait(p.value);
    std::memcpy(target + p.done, p.mapped, p.bytes);
  };
  for (uint64_t done = 0; done < bytes; done += kPiece) {
    const uint64_t n = std::min(kPiece, bytes - done);
    const Ring::Piece piece = stream.readback(n);
    copy_command(stream, from.buffer, from.base + offset + done, piece.buffer, piece.offset, n,
                 true);
    stream.flush();
    finish(last);
    last = {piece.mapped, stream.submitted(), done, n};
  }
  finish(last);
}

// --- fill ----------------------------------------------------------------------------------------

// True when the pattern is one 32-bit word repeated, which vkCmdFillBuffer can do.
bool as_word(const unsigned char* pattern, uint32_t pattern_bytes, uint32_t& word) {
  unsigned char bytes[16];
  for (uint32_t i = 0; i < sizeof(bytes); ++i) bytes[i] = pattern[i % pattern_bytes];
  std::memcpy(&word, bytes, 4);
  for (uint32_t i = 4; i < sizeof(bytes); i += 4)
    if (std::memcmp(bytes, bytes + i, 4) != 0) return false;
  return true;
}

// Writes a short piece of the pattern from staging memory, then doubles it on the device.
void fill_by_copies(primset_stream_t& stream, const Memory& to, uint64_t offset, uint64_t bytes,
                    const unsigned char* pattern, uint32_t pattern_bytes) {
  constexpr uint64_t kSeed = 64 << 10;
  const uint64_t seed = std::min(bytes, kSeed);
  const Ring::Piece piece = stream.upload(seed);
  for (uint64_t i = 0; i < seed; i += pattern_bytes)
    std::memcpy(piece.mapped + i, pattern, pattern_bytes);
  const uint64_t first = to.base + offset;
  copy_command(stream, piece.buffer, piece.offset, to.buffer, first, seed, true);
  stream.recorded();
  for (uint64_t done = seed; done < bytes;) {
    const uint64_t n = std::min(done, bytes - done);
    copy_command(stream, to.buffer, first, to.buffer, first + done, n, true);
    stream.recorded();
    done += n;
  }
}

void fill_range(primset_stream_t& stream, const Memory& to, uint64_t offset, uint64_t bytes,
                const unsigned char* pattern, uint32_t pattern_bytes) {
  uint32_t word = 0;
  const uint64_t first = to.base + offset;
  // vkCmdFillBuffer takes multiples of 4 only. The pattern starts anew at `offset`, so that a word
  // at a multiple of 4 may begin inside it: then copies do it.
  if (first % 4 != 0 || bytes < 4 || !as_word(pattern, pattern_bytes, word))
    return fill_by_copies(stream, to, offset, bytes, pattern, pattern_bytes);
  const uint64_t whole = bytes / 4 * 4;
  const VkCommandBuffer commands = stream.record(true);
  stream.device->vk.vkCmdFillBuffer(commands, to.buffer, first, whole, word);
  stream.recorded();
  if (whole < bytes)
    fill_by_copies(stream, to, offset + whole, bytes - whole, pattern, pattern_bytes);
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
      upload(*stream, buffer->memory, offset, static_cast<const char*>(source), bytes);
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
      download(*stream, buffer->memory, offset, static_cast<char*>(target), bytes);
    }
  });
}

primset_status* copy(primset_stream stream, primset_buffer target, uint64_t target_offset,
                     primset_buffer source, uint64_t source_offset, uint64_t bytes) {
  if (bytes == 0) return nullptr;
  return guarded("copy", [&] {
    const Memory &to = target->memory, &from = source->memory;
    copy_command(*stream, from.buffer, from.base + source_offset, to.buffer,
                 to.base + target_offset, bytes, true);
    stream->recorded();
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
