// Runs that repeat. A plan of many launches that is run again with the same memory and the same
// numbers is recorded by the device, where it can (plugin.h, PRIMSET_EXT_RECORDING), and then
// played: that costs one call instead of one a launch. The caching allocator makes such runs
// common, as it gives a program that does the same again the same memory.
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

// All that a run gives to a stream, as words, and which stream that is: equal signatures, equal
// work.
using RunSignature = std::vector<uint64_t>;

// Thread safe. The caller of play and record holds the lock of the stream.
class Recordings {
 public:
  explicit Recordings(const plugin::PluginDevice& device);

  bool available() const { return available_.load(std::memory_order_relaxed); }

  enum class Next : uint8_t {
    launch,  // met for the first time
    record,  // met before: worth recording
    played,  // was recorded, and has been enqueued
  };
  Next play(const plugin::StreamHandle& stream, const RunSignature& signature);

  // Records what `give` gives to the stream, keeps it and enqueues it. False when the device cannot
  // record that: nothing was enqueued then, and no more is recorded.
  bool record(const plugin::StreamHandle& stream, RunSignature signature,
              const std::function<void()>& give);

  // Before memory is given back to the plugin: recordings may use it.
  void clear();

 private:
  // More than these, and the one not played for longest is dropped.
  static constexpr size_t kMost = 64;
  // Signatures remembered as met once, by their hashes, in sets with the last one first: a program
  // that goes round between some would find none of them if they shared a place.
  static constexpr size_t kMetSets = 32, kMetWays = 8;

  struct Entry {
    uint64_t hash;
    RunSignature signature;
    plugin::RecordingHandle recording;
  };
  bool met_before(uint64_t hash);

  std::atomic<bool> available_;
  std::mutex mutex_;
  std::list<Entry> entries_;  // the last one played first
  std::array<std::array<uint64_t, kMetWays>, kMetSets> met_{};
};

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_EXECUTE_RECORDINGS_H_
