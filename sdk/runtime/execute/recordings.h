// Repeated runs. A plan of many launches that is run again with the same memory and numbers is
// recorded by the device, where it can (plugin.h, PRIMSET_EXT_RECORDING), and then replayed by one
// call (docs/decisions/recordings.md). The caching allocator makes such runs common: a program that
// repeats itself gets the same memory.
#ifndef PRIMSET_SDK_RUNTIME_EXECUTE_RECORDINGS_H_
#define PRIMSET_SDK_RUNTIME_EXECUTE_RECORDINGS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <span>
#include <vector>

#include "sdk/runtime/plugin/device.h"

namespace primset::runtime {

// Everything that a run enqueues, as words, and the stream: equal signatures mean equal work.
using RunSignature = std::vector<uint64_t>;

// Thread safe. The caller of play and record holds the lock of the stream.
class Recordings {
 public:
  explicit Recordings(const plugin::PluginDevice& device);

  bool available() const { return available_.load(std::memory_order_relaxed); }

  enum class Next : uint8_t {
    launch,    // the first time: launch it
    record,    // the second time: record it
    replayed,  // recorded before, and now enqueued
  };
  Next play(const plugin::StreamHandle& stream, const RunSignature& signature);

  // Records what `enqueue` enqueues, stores the recording and enqueues it. False: the device cannot
  // record that; nothing was enqueued, and recording is disabled from then on.
  bool record(const plugin::StreamHandle& stream, RunSignature signature,
              const std::function<void()>& enqueue);

  // Drops all recordings. Called before memory is freed, since they may use it.
  void clear();

 private:
  // The capacity; the least recently replayed recording is evicted.
  static constexpr size_t kCapacity = 64;
  // Hashes of signatures seen once, in a set-associative table, most recent first: a program that
  // alternates between several runs would evict them from a direct-mapped one.
  static constexpr size_t kSeenSets = 32, kSeenWays = 8;

  struct Entry {
    uint64_t hash;
    RunSignature signature;
    plugin::RecordingHandle recording;
  };
  bool seen_before(uint64_t hash);

  std::atomic<bool> available_;
  std::mutex mutex_;
  std::list<Entry> entries_;  // most recently replayed first
  std::array<std::array<uint64_t, kSeenWays>, kSeenSets> seen_{};
};

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_EXECUTE_RECORDINGS_H_
