// Timeline semaphores: one a stream, whose counter says how far the stream's work has come.
#ifndef PRIMSET_BACKENDS_VULKAN_TIMELINE_H_
#define PRIMSET_BACKENDS_VULKAN_TIMELINE_H_

#include <primset/plugin.h>

#include <memory>
#include <mutex>
#include <vector>

#include "backends/vulkan/functions.h"

namespace primset_vulkan {

class Timeline {
 public:
  explicit Timeline(primset_device device);
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  VkSemaphore handle() const { return semaphore_; }
  uint64_t value() const;
  void wait(uint64_t value) const;

  // The largest value that was given to the queue to signal; the owning stream's alone.
  uint64_t submitted = 0;

 private:
  primset_device device_;
  VkSemaphore semaphore_ = VK_NULL_HANDLE;
};

// A point on a timeline. Events keep the timeline when its stream is gone.
struct Mark {
  std::shared_ptr<Timeline> timeline;  // null: reached
  uint64_t value = 0;

  bool reached() const { return !timeline || timeline->value() >= value; }
  void wait() const {
    if (timeline) timeline->wait(value);
  }
};

// Timelines nobody uses any more, for the next stream: their counters simply go on. They are
// destroyed only with the device, because a software driver's thread may still be inside a
// semaphore when the host already knows its value.
class TimelinePool {
 public:
  explicit TimelinePool(primset_device device) : device_(device) {}
  TimelinePool(const TimelinePool&) = delete;
  TimelinePool& operator=(const TimelinePool&) = delete;

  // Goes back to the pool with its last owner. Any thread.
  std::shared_ptr<Timeline> take();

 private:
  primset_device device_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Timeline>> spare_;
};

}  // namespace primset_vulkan

#endif  // PRIMSET_BACKENDS_VULKAN_TIMELINE_H_
