// Memory used on several streams: whoever uses a storage waits for the stream that used it last.
#ifndef PRIMSET_SDK_RUNTIME_DEVICE_STREAM_ORDER_H_
#define PRIMSET_SDK_RUNTIME_DEVICE_STREAM_ORDER_H_

#include <span>

#include "sdk/runtime/device/stream_state.h"
#include "sdk/runtime/tensor/storage.h"

namespace primset::runtime {

// Makes work given to `stream` from here on start after the last use of each storage. `lock` holds
// the stream; it may be let go and taken again. Free on inline devices, and cheap when all storages
// were last used here.
void order_after_last_use(StreamLock& lock, StreamState& stream,
                          std::span<StorageImpl* const> storages);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_DEVICE_STREAM_ORDER_H_
