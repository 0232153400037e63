#include "backends/cpu/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "backends/common/status.h"
#include "backends/cpu/objects.h"

namespace primset_cpu {
namespace {

using primset_backend::guarded;
using primset_backend::make_status;

// From here on memory comes in huge pages, where the kernel has any: far fewer TLB misses.
constexpr uint64_t kHugeFrom = 4u << 20;
constexpr uint64_t kHugePage = 2u << 20;

// Maps bytes at a multiple of kHugePage. False when there is no address space or memory.
bool map_huge(uint64_t bytes, primset_buffer_t& buffer) {
  const uint64_t wanted = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  const uint64_t reserved = wanted + kHugePage;
  void* address =
      mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) return false;
  const auto begin = reinterpret_cast<uintptr_t>(address);
  const uintptr_t aligned = (begin + kHugePage - 1) / kHugePage * kHugePage;
  // Gives back what lies before and after the aligned part.
  if (aligned > begin) munmap(address, aligned - begin);
  if (begin + reserved > aligned + wanted)
    munmap(reinterpret_cast<void*>(aligned + wanted), begin + reserved - aligned - wanted);
  buffer.address = reinterpret_cast<char*>(aligned);
  buffer.mapped_bytes = wanted;
  madvise(buffer.address, wanted, MADV_HUGEPAGE);  // advice: failing is fine
  return true;
}

bool allocate(uint64_t bytes, primset_buffer_t& buffer) {
  // The kernel overcommits: it would hand out more than there is and kill the process later.
  if (bytes > physical_memory_bytes()) return false;
  if (bytes >= kHugeFrom) return map_huge(bytes, buffer);
  void* address = nullptr;
  if (posix_memalign(&address, kMemoryAlignment, bytes) != 0) return false;
  buffer.address = static_cast<char*>(address);
  return true;
}

void* host_address(primset_device, primset_buffer buffer) {
  return buffer->address;
}

primset_status* host_import(primset_device, void* address, uint64_t bytes,
                            primset_buffer* out_buffer) {
  *out_buffer = nullptr;
  return guarded("import", [&]() -> primset_status* {
    auto buffer = std::make_unique<primset_buffer_t>();
    buffer->address = static_cast<char*>(address);
    buffer->bytes = bytes;
    buffer->owned = false;
    *out_buffer = buffer.release();
    return nullptr;
  });
}

uint64_t device_address(primset_device, primset_buffer buffer) {
  return reinterpret_cast<uint64_t>(buffer->address);
}

}  // namespace

const primset_host_memory kHostMemory = {sizeof(primset_host_memory), 0, host_address, host_import};
const primset_device_addresses kDeviceAddresses = {sizeof(primset_device_addresses), 0,
                                                   device_address};

uint64_t physical_memory_bytes() {
  static const uint64_t bytes =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

primset_status* memory_alloc(primset_device, uint64_t bytes, primset_buffer* out_buffer) {
  *out_buffer = nullptr;
  return guarded("memory_alloc", [&]() -> primset_status* {
    auto buffer = std::make_unique<primset_buffer_t>();
    buffer->bytes = bytes;
    if (!allocate(bytes, *buffer))
      return make_status(PRIMSET_OUT_OF_MEMORY,
                         "memory_alloc: no %" PRIu64 " bytes; the machine has %" PRIu64
                         " bytes of memory",
                         bytes, physical_memory_bytes());
    *out_buffer = buffer.release();
    return nullptr;
  });
}

void memory_free(primset_device, primset_buffer buffer) {
  if (buffer->owned && buffer->mapped_bytes > 0)
    munmap(buffer->address, buffer->mapped_bytes);
  else if (buffer->owned)
    std::free(buffer->address);
  delete buffer;
}

primset_status* copy_in(primset_stream, primset_buffer buffer, uint64_t offset, const void* source,
                        uint64_t bytes) {
  if (bytes > 0) std::memcpy(buffer->address + offset, source, bytes);
  return nullptr;
}

primset_status* copy_out(primset_stream, primset_buffer buffer, uint64_t offset, void* target,
                         uint64_t bytes) {
  if (bytes > 0) std::memcpy(target, buffer->address + offset, bytes);
  return nullptr;
}

primset_status* copy(primset_stream, primset_buffer target, uint64_t target_offset,
                     primset_buffer source, uint64_t source_offset, uint64_t bytes) {
  if (bytes > 0)
    std::memcpy(target->address + target_offset, source->address + source_offset, bytes);
  return nullptr;
}

primset_status* fill(primset_stream, primset_buffer buffer, uint64_t offset, uint64_t bytes,
                     const void* pattern, uint32_t pattern_bytes) {
  if (bytes == 0) return nullptr;
  char* target = buffer->address + offset;
  if (pattern_bytes == 1) {
    std::memset(target, *static_cast<const unsigned char*>(pattern), bytes);
    return nullptr;
  }
  // Each copy doubles what is there, up to a block that stays in the nearest cache.
  constexpr uint64_t kBlock = 16384;
  std::memcpy(target, pattern, pattern_bytes);
  for (uint64_t done = pattern_bytes; done < bytes;) {
    const uint64_t step = std::min({done, bytes - done, kBlock});
    std::memcpy(target + done, target, step);
    done += step;
  }
  return nullptr;
}

}  // namespace primset_cpu
