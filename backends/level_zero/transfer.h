// Buffers, copies and fills.
#ifndef PRIMSET_BACKENDS_LEVEL_ZERO_TRANSFER_H_
#define PRIMSET_BACKENDS_LEVEL_ZERO_TRANSFER_H_

#include <primset/plugin.h>

namespace primset_level_zero {

primset_status* memory_alloc(primset_device device, uint64_t bytes, primset_buffer* out_buffer);
void memory_free(primset_device device, primset_buffer buffer);
primset_status* copy_in(primset_stream stream, primset_buffer buffer, uint64_t offset,
                        const void* source, uint64_t bytes);
primset_status* copy_out(primset_stream stream, primset_buffer buffer, uint64_t offset,
                         void* target, uint64_t bytes);
primset_status* copy(primset_stream stream, primset_buffer target, uint64_t target_offset,
                     primset_buffer source, uint64_t source_offset, uint64_t bytes);
primset_status* fill(primset_stream stream, primset_buffer buffer, uint64_t offset, uint64_t bytes,
                     const void* pattern, uint32_t pattern_bytes);

extern const primset_device_addresses kDeviceAddresses;

}  // namespace primset_level_zero

#endif  // PRIMSET_BACKENDS_LEVEL_ZERO_TRANSFER_H_
