// Memory across streams: work that uses a storage waits for the stream that used it last.
#ifndef PRIMSET_SDK_RUNTIME_DEVICE_STREAM_ORDER_H_
#define PRIMSET_SDK_RUNTIME_DEVICE_STREAM_ORDER_H_

#include <span>

#include "sdk/runtime/device/stream_state.h"
#include "sdk/runtime/tensor/storage.h"

namespace primset::runtime {

// Makes later work of `stream` start after the last use of each storage. `lock` holds the stream;
// it may be released and taken again. Does nothing on inline devices, and is cheap when all
// storages were last used on this stream.
void order_after_last_use(StreamLock& lock, StreamState& stream,
                          std::span<StorageImpl* const> storages);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_DEVICE_STREAM_ORDER_H_
