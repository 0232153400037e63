// Copies and fills of a stream.
#include <cstring>

#include "backends/common/staging/staging.h"
#include "backends/cuda/stream.h"

using namespace primset_cuda;

namespace {

// The pattern as a number, for the driver's own fills of 1, 2 and 4 bytes.
template <typename T>
T value_of(const unsigned char* pattern) {
  T value;
  std::memcpy(&value, pattern, sizeof(value));
  return value;
}

// From so many bytes on a copy is asked about: less is done before the answer would be there.
constexpr uint64_t kAskedBytes = 16 << 10;
// From so many bytes on the driver's own staging of pageable memory is faster than ours.
constexpr uint64_t kStagedByDriver = 1 << 20;

}  // namespace

// Page-locked memory, whoever locked it, needs no staging.
bool primset_stream_t::copies_directly(const void* host, uint64_t bytes) const {
  if (bytes < kAskedBytes) return false;
  if (bytes >= kStagedByDriver) return true;
  unsigned type = 0;
  const Result known =
      cu.cuPointerGetAttribute(&type, kPointerMemoryType, reinterpret_cast<DevicePointer>(host));
  return known == kSuccess && type == kMemoryTypeHost;
}

// The driver still reads page-locked memory when its function has returned.
void primset_stream_t::copy_in(const primset_buffer_t& buffer, uint64_t offset, const void* source,
                               uint64_t bytes) {
  if (!copies_directly(source, bytes)) return StagedStream::copy_in(buffer, offset, source, bytes);
  PRIMSET_CUDA(cu, cuMemcpyHtoDAsync_v2, buffer.address + offset, source, bytes, handle);
  synchronize();
}

void primset_stream_t::copy_out(const primset_buffer_t& buffer, uint64_t offset, void* target,
                                uint64_t bytes) {
  if (!copies_directly(target, bytes)) return StagedStream::copy_out(buffer, offset, target, bytes);
  PRIMSET_CUDA(cu, cuMemcpyDtoHAsync_v2, target, buffer.address + offset, bytes, handle);
  synchronize();
}

void primset_stream_t::copy(const primset_buffer_t& target, uint64_t target_offset,
                            const primset_buffer_t& source, uint64_t source_offset,
                            uint64_t bytes) {
  PRIMSET_CUDA(cu, cuMemcpyDtoDAsync_v2, target.address + target_offset,
               source.address + source_offset, bytes, handle);
}

void primset_stream_t::fill(const primset_buffer_t& buffer, uint64_t offset, uint64_t bytes,
                            const unsigned char* pattern, uint32_t pattern_bytes) {
  const DevicePointer to = buffer.address + offset;
  switch (primset_backend::period(pattern, pattern_bytes)) {
    case 1:
      PRIMSET_CUDA(cu, cuMemsetD8Async, to, *pattern, bytes, handle);
      break;
    case 2:
      PRIMSET_CUDA(cu, cuMemsetD16Async, to, value_of<uint16_t>(pattern), bytes / 2, handle);
      break;
    case 4:
      PRIMSET_CUDA(cu, cuMemsetD32Async, to, value_of<uint32_t>(pattern), bytes / 4, handle);
      break;
    default:
      primset_backend::fill_by_copies(*this, to, 0, bytes, pattern, pattern_bytes);
  }
}

// A stream runs everything in order, so `ordered` holds anyway.
void primset_stream_t::copy_from(const Piece& piece, DevicePointer to, uint64_t offset,
                                 uint64_t bytes, bool) {
  PRIMSET_CUDA(cu, cuMemcpyHtoDAsync_v2, to + offset, piece.mapped, bytes, handle);
}

void primset_stream_t::copy_to(DevicePointer from, uint64_t offset, const Piece& piece,
                               uint64_t bytes) {
  PRIMSET_CUDA(cu, cuMemcpyDtoHAsync_v2, piece.mapped, from + offset, bytes, handle);
}

void primset_stream_t::copy_inside(DevicePointer memory, uint64_t from, uint64_t to,
                                   uint64_t bytes) {
  PRIMSET_CUDA(cu, cuMemcpyDtoDAsync_v2, memory + to, memory + from, bytes, handle);
}
