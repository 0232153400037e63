// Level Zero as this process sees it: loaded and initialised once, and the GPUs of its drivers.
#ifndef PRIMSET_BACKENDS_LEVEL_ZERO_DRIVER_H_
#define PRIMSET_BACKENDS_LEVEL_ZERO_DRIVER_H_

#include <primset/plugin.h>

#include <string>
#include <vector>

#include "backends/level_zero/errors.h"
#include "backends/level_zero/functions.h"

namespace primset_level_zero {

struct PhysicalDevice {
  ze_driver_handle_t driver = nullptr;
  ze_device_handle_t handle = nullptr;
  uint32_t queue_group = 0;  // that computes
  uint32_t queues = 1;       // of that group
  uint64_t largest_allocation = 0;
  std::string build_options;
  std::string cache_target;  // all that compiled code depends on beside its SPIR-V
  primset_device_properties properties{};
};

class Driver {
 public:
  // Without Level Zero on the machine there are no devices; that is no error. Throws BackendError
  // for anything else that fails.
  explicit Driver(const primset_host* host);

  const primset_host* host() const { return host_; }
  const Functions& ze() const { return ze_; }
  const std::vector<PhysicalDevice>& devices() const { return devices_; }

 private:
  void list_devices(ze_driver_handle_t driver);

  const primset_host* host_;
  Functions ze_;
  std::vector<PhysicalDevice> devices_;
};

}  // namespace primset_level_zero

#endif  // PRIMSET_BACKENDS_LEVEL_ZERO_DRIVER_H_
