// The functions of PRIMSET_EXT_PINNED_MEMORY. Beside what backends/common/plugin_functions.h asks
// for, a device has
//   allocate_on_host(bytes), free_on_host(char*)   as backends/common/staging/staged_stream.h says
// and a stream has
//   copy_in_pinned(buffer, offset, source, bytes), copy_out_pinned(buffer, offset, target, bytes)
#ifndef PRIMSET_BACKENDS_COMMON_STAGING_PINNED_FUNCTIONS_H_
#define PRIMSET_BACKENDS_COMMON_STAGING_PINNED_FUNCTIONS_H_

#include <primset/plugin.h>

#include <new>

#include "backends/common/scoped_call.h"

namespace primset_backend {

template <typename Scope>
struct PinnedFunctions {
  template <typename Device>
  static primset_status* alloc(Device* device, uint64_t bytes, void** out_memory) {
    *out_memory = nullptr;
    return scoped<Scope>("pinned_memory.alloc", *device,
                         [&] { *out_memory = device->allocate_on_host(bytes); });
  }

  template <typename Device>
  static void free(Device* device, void* memory) {
    const Scope scope(*device, std::nothrow);
    device->free_on_host(static_cast<char*>(memory));
  }

  template <typename Stream, typename Buffer>
  static primset_status* copy_in(Stream* stream, Buffer* buffer, uint64_t offset,
                                 const void* source, uint64_t bytes) {
    if (bytes == 0) return nullptr;
    return scoped<Scope>("pinned_memory.copy_in", *stream->device,
                         [&] { stream->copy_in_pinned(*buffer, offset, source, bytes); });
  }

  template <typename Stream, typename Buffer>
  static primset_status* copy_out(Stream* stream, Buffer* buffer, uint64_t offset, void* target,
                                  uint64_t bytes) {
    if (bytes == 0) return nullptr;
    return scoped<Scope>("pinned_memory.copy_out", *stream->device,
                         [&] { stream->copy_out_pinned(*buffer, offset, target, bytes); });
  }
};

template <typename Scope>
inline constexpr primset_pinned_memory kPinnedMemory = {
    sizeof(primset_pinned_memory),   0,
    PinnedFunctions<Scope>::alloc,   PinnedFunctions<Scope>::free,
    PinnedFunctions<Scope>::copy_in, PinnedFunctions<Scope>::copy_out,
};

}  // namespace primset_backend

#endif  // PRIMSET_BACKENDS_COMMON_STAGING_PINNED_FUNCTIONS_H_
