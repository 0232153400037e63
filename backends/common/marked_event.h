// Marks in streams, and events that hold one: the one that they were recorded with last.
#ifndef PRIMSET_BACKENDS_COMMON_MARKED_EVENT_H_
#define PRIMSET_BACKENDS_COMMON_MARKED_EVENT_H_

#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

namespace primset_backend {

// A mark that is an event of the driver, a pointer, which all who refer to the mark share. Beside
// `Functions`, those of the driver, stand
//   is_reached(functions, event), wait_for(functions, event)  throw BackendError
template <typename Functions, typename Event>
class SharedMark {
 public:
  SharedMark() = default;
  SharedMark(const Functions& functions, std::shared_ptr<std::remove_pointer_t<Event>> event)
      : functions_(&functions), event_(std::move(event)) {}

  // Null: the mark is reached.
  Event get() const { return event_.get(); }
  bool reached() const { return !event_ || is_reached(*functions_, get()); }
  void wait() const {
    if (event_) wait_for(*functions_, get());
  }

 private:
  const Functions* functions_ = nullptr;
  std::shared_ptr<std::remove_pointer_t<Event>> event_;
};

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
