// Marks in queues: a shared reference to a cl_event.
#ifndef PRIMSET_BACKENDS_OPENCL_EVENT_H_
#define PRIMSET_BACKENDS_OPENCL_EVENT_H_

#include <primset/plugin.h>

#include <mutex>
#include <utility>

#include "backends/opencl/errors.h"

namespace primset_opencl {

// Empty: a mark that is reached.
class Mark {
 public:
  Mark() = default;
  // Takes the reference over.
  Mark(const Functions& cl, cl_event event) : cl_(&cl), event_(event) {}
  Mark(const Mark& other) : cl_(other.cl_), event_(other.event_) {
    if (event_) cl_->clRetainEvent(event_);
  }
  Mark(Mark&& other) noexcept : cl_(other.cl_), event_(std::exchange(other.event_, nullptr)) {}
  Mark& operator=(Mark other) noexcept {
    std::swap(cl_, other.cl_);
    std::swap(event_, other.event_);
    return *this;
  }
  ~Mark() {
    if (event_) cl_->clReleaseEvent(event_);
  }

  const cl_event* get() const { return event_ ? &event_ : nullptr; }

  // Throw BackendError where the command failed.
  bool reached() const {
    if (!event_) return true;
    cl_int state = CL_QUEUED;
    check(cl_->clGetEventInfo(event_, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(state), &state,
                              nullptr),
          "clGetEventInfo");
    if (state < 0) check_wait(state, "an earlier command");
    return state == CL_COMPLETE;
  }
  void wait() const {
    if (event_) check_wait(cl_->clWaitForEvents(1, &event_), "clWaitForEvents");
  }

 private:
  const Functions* cl_ = nullptr;
  cl_event event_ = nullptr;
};

}  // namespace primset_opencl

struct primset_event_t {
  std::mutex mutex;  // an event may be asked while it is recorded anew
  primset_opencl::Mark mark;

  primset_opencl::Mark get() {
    const std::lock_guard lock(mutex);
    return mark;
  }
  void set(primset_opencl::Mark now) {
    const std::lock_guard lock(mutex);
    mark = std::move(now);
  }
};

#endif  // PRIMSET_BACKENDS_OPENCL_EVENT_H_
