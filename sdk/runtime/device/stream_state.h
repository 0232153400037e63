// A stream with its lock, its error slots, and the memory ranges in flight.
//
// On a device that runs launches inline (the CPU) every thread has a stream of its own, no lock is
// taken and nothing is tracked. Elsewhere a stream is used under its mutex (StreamLock).
//
// StreamStates live as long as their device: storages refer to the stream that used them last.
#ifndef PRIMSET_SDK_RUNTIME_DEVICE_STREAM_STATE_H_
#define PRIMSET_SDK_RUNTIME_DEVICE_STREAM_STATE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "sdk/runtime/device/caching_allocator.h"
#include "sdk/runtime/plugin/device.h"
#include "sdk/runtime/plugin/hazards.h"

namespace primset::runtime {

class DeviceState;
class CheckTable;

class StreamState {
 public:
  StreamState(DeviceState& device, uint32_t index);

  DeviceState& device() const { return device_; }
  uint32_t index() const { return index_; }
  // The allocator's pool of its memory: 0 for all streams of an inline device.
  uint32_t pool() const { return pool_; }
  const plugin::StreamHandle& handle() const { return handle_; }
  std::mutex& mutex() { return mutex_; }
  plugin::HazardTracker& hazards() { return hazards_; }
  // The flags of the next launch: may it overlap earlier ones? See HazardTracker::flags_for.
  uint32_t launch_flags(std::span<const primset_binding> bindings, bool exact);

  // Waits, then throws the first error of the stream's work, or of the work of other streams that
  // it waited for. Takes the lock.
  void synchronize();
  // The same for a caller that holds the lock.
  void synchronize_locked();

  // Allocates the error slots at the first call. Takes the lock, but not while it allocates: an
  // allocation may have to wait for all streams.
  void make_error_slots();
  // The error slot of a program's launches, until the next synchronisation. The caller holds the
  // lock.
  struct SlotBinding {
    primset_buffer buffer = nullptr;
    uint64_t offset = 0;
  };
  SlotBinding error_slot(const std::shared_ptr<const CheckTable>& checks);
  // Reads and frees the slots in use, and throws the first failure. The stream's work has
  // completed.
  void report_errors();
  // Throws the first error of the streams that this one waited for: a value computed from a failed
  // one has no meaning, whichever stream computed it. Takes their locks; the caller holds none.
  void report_awaited_errors();

  // Makes later work here start after all present work of `other`, of this device or of one that
  // its plugin reaches, and its errors known here. The caller holds both locks.
  void wait_for(StreamState& other);
  // The same, but the errors of `other` stay its own.
  void follow(StreamState& other);

 private:
  static constexpr uint32_t kErrorSlots = 256;

  DeviceState& device_;
  uint32_t index_, pool_;
  bool in_order_;
  plugin::StreamHandle handle_;
  std::mutex mutex_;
  plugin::HazardTracker hazards_;
  plugin::EventHandle event_;  // for wait_for; made at first use

  Block slots_;
  std::atomic<bool> has_slots_{false};
  std::vector<std::shared_ptr<const CheckTable>> slot_owner_;  // of the slots in use, in order
  std::unordered_map<const CheckTable*, uint32_t> slot_of_;
  std::vector<StreamState*> awaited_;  // streams waited for while their errors were not known
};

// Holds a stream's lock while one operator is enqueued; does nothing on an inline device.
class StreamLock {
 public:
  explicit StreamLock(StreamState& stream);
  ~StreamLock();
  StreamLock(const StreamLock&) = delete;
  StreamLock& operator=(const StreamLock&) = delete;

  void lock();
  void unlock();
  // Takes the others' locks as well, in an order that cannot deadlock, for the time of `f`.
  template <typename F>
  void with(std::span<StreamState* const> others, F f) {
    acquire_all(others);
    try {
      f();
    } catch (...) {
      release_others(others);
      throw;
    }
    release_others(others);
  }

 private:
  void acquire_all(std::span<StreamState* const> others);
  void release_others(std::span<StreamState* const> others);

  StreamState* stream_;  // null on an inline device
  bool held_ = false;
};

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_DEVICE_STREAM_STATE_H_
