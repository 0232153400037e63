// Events and fences: flags that commands and the host set, wait for and clear.
#ifndef PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_EVENT_H_
#define PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_EVENT_H_

#include <level_zero/ze_api.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "backends/level_zero/cpu_driver/objects.h"

namespace primset_cpu_driver {

struct Interval {
  uint64_t start = 0, end = 0;  // nanoseconds
};

class Event : public Object {
 public:
  // Only lists of these devices may use it; none: of all.
  explicit Event(std::vector<uint32_t> devices = {}) : devices_(std::move(devices)) {}

  void signal(Interval when = {});
  void reset();
  // False when the time is over before it is set.
  bool wait(uint64_t nanoseconds);
  Interval when();
  bool serves(uint32_t device) const {
    return devices_.empty() || std::ranges::find(devices_, device) != devices_.end();
  }

 private:
  const std::vector<uint32_t> devices_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
  Interval when_;
};

struct EventPool : Object {
  uint32_t count = 0;
  std::vector<uint32_t> devices;
};

struct Fence : Event {};

}  // namespace primset_cpu_driver

#endif  // PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_EVENT_H_
