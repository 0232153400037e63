// Events and fences: flags that commands and the host set, wait for and clear.
#ifndef PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_EVENT_H_
#define PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_EVENT_H_

#include <level_zero/ze_api.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "backends/level_zero/cpu_driver/objects.h"

namespace primset_cpu_driver {

struct Interval {
  uint64_t start = 0, end = 0;  // nanoseconds
};

class Event : public Object {
 public:
  void signal(Interval when = {});
  void reset();
  // False when the time is over before it is set.
  bool wait(uint64_t nanoseconds);
  Interval when();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
  Interval when_;
};

struct EventPool : Object {
  uint32_t count = 0;
};

struct Fence : Event {};

}  // namespace primset_cpu_driver

#endif  // PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_EVENT_H_
