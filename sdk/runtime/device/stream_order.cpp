#include "sdk/runtime/device/stream_order.h"

#include <algorithm>

#include "sdk/runtime/device/device_state.h"

namespace primset::runtime {
namespace {

std::vector<StreamState*> other_streams(const StreamState& mine,
                                        std::span<StorageImpl* const> storages) {
  std::vector<StreamState*> others;
  for (StorageImpl* s : storages) {
    StreamState* last = s->stream.load(std::memory_order_relaxed);
    if (last && last != &mine && std::ranges::find(others, last) == others.end())
      others.push_back(last);
  }
  return others;
}

}  // namespace

void order_after_last_use(StreamLock& lock, StreamState& stream,
                          std::span<StorageImpl* const> storages) {
  if (stream.device().runs_inline()) return;
  for (;;) {
    const std::vector<StreamState*> others = other_streams(stream, storages);
    if (others.empty()) return;
    // With the others' locks held, their calls in progress are complete: what they enqueued before
    // the mark includes every use of these storages.
    lock.with(others, [&] {
      for (StreamState* other : others) stream.wait_for(*other);
      for (StorageImpl* s : storages) {
        StreamState* last = s->stream.load(std::memory_order_relaxed);
        if (std::ranges::find(others, last) != others.end()) s->stream.store(&stream);
      }
    });
    // Another thread may have used one of them elsewhere before the locks were taken: look again.
  }
}

}  // namespace primset::runtime
