// Level Zero as this process sees it: loaded and initialised once, and the GPUs of its drivers.
#ifndef PRIMSET_BACKENDS_LEVEL_ZERO_DRIVER_H_
#define PRIMSET_BACKENDS_LEVEL_ZERO_DRIVER_H_

#include <primset/plugin.h>

#include <memory>

#include "backends/common/shared_driver.h"
#include "backends/common/spirv_device.h"
#include "backends/level_zero/context.h"
#include "backends/level_zero/errors.h"
#include "backends/level_zero/functions.h"

namespace primset_level_zero {

struct PhysicalDevice : primset_backend::SpirvDevice {
  ze_driver_handle_t driver = nullptr;
  ze_device_handle_t handle = nullptr;
  uint32_t queue_group = 0;  // that computes
  uint32_t queues = 1;       // of that group
};

class Driver : public primset_backend::DeviceList<PhysicalDevice> {
 public:
  // Without Level Zero on the machine there are no devices; that is no error. Throws BackendError
  // for anything else that fails.
  explicit Driver(const primset_host* host);

  const Functions& ze() const { return ze_; }
  // The context that the open devices of a ze driver share; throws BackendError. Any thread.
  std::shared_ptr<Context> context(ze_driver_handle_t driver) { return contexts_.of(ze_, driver); }

 private:
  void add_device(ze_driver_handle_t driver, ze_device_handle_t handle);

  Functions ze_;
  Contexts contexts_;
};

}  // namespace primset_level_zero

#endif  // PRIMSET_BACKENDS_LEVEL_ZERO_DRIVER_H_
