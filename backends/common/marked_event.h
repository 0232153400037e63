// An event that holds a mark in a stream: the one that it was recorded with last.
#ifndef PRIMSET_BACKENDS_COMMON_MARKED_EVENT_H_
#define PRIMSET_BACKENDS_COMMON_MARKED_EVENT_H_

#include <mutex>
#include <utility>

namespace primset_backend {

// A Mark may be copied, and has
//   Mark()             one that is reached
//   reached(), wait()  throw BackendError
// A stream's end() is the mark of its present end. Any thread: an event may be asked while it is
// recorded anew.
template <typename Device, typename Mark>
class MarkedEvent {
 public:
  explicit MarkedEvent(Device* device) : device(device) {}
  MarkedEvent(const MarkedEvent&) = delete;
  MarkedEvent& operator=(const MarkedEvent&) = delete;

  template <typename Stream>
  void record(Stream& stream) {
    Mark end = stream.end();
    const std::lock_guard lock(mutex_);
    mark_ = std::move(end);
  }

  Mark mark() const {
    const std::lock_guard lock(mutex_);
    return mark_;
  }
  bool reached() const { return mark().reached(); }
  void wait() const { mark().wait(); }

  Device* const device;

 private:
  mutable std::mutex mutex_;
  Mark mark_;
};

}  // namespace primset_backend

#endif  // PRIMSET_BACKENDS_COMMON_MARKED_EVENT_H_
