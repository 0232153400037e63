#include "backends/level_zero/driver.h"

#include "backends/common/abi_boundary.h"
#include "backends/level_zero/device_info.h"

namespace primset_level_zero {
namespace {

using primset_backend::log;

// Drivers align allocations as they are asked to.
constexpr uint32_t kMemoryAlignment = 256;
constexpr uint32_t kLeastParamBytes = 128;

}  // namespace

Driver::Driver(const primset_host* host) : host_(host) {
  if (!ze_.load()) {
    log(host, PRIMSET_LOG_INFO, "level_zero: no libze_loader.so.1; no devices");
    return;
  }
  const ze_result_t result = ze_.zeInit(ZE_INIT_FLAG_GPU_ONLY);
  if (result != ZE_RESULT_SUCCESS) {
    log(host, PRIMSET_LOG_INFO,
        "level_zero: no driver of a GPU on this machine; no devices (zeInit: " +
            kResults.name(result) + ")");
    return;
  }
  uint32_t count = 0;
  PRIMSET_ZE(ze_, zeDriverGet, &count, nullptr);
  std::vector<ze_driver_handle_t> drivers(count);
  PRIMSET_ZE(ze_, zeDriverGet, &count, drivers.data());
  for (ze_driver_handle_t driver : drivers) list_devices(driver);
}

void Driver::list_devices(ze_driver_handle_t driver) {
  uint32_t count = 0;
  PRIMSET_ZE(ze_, zeDeviceGet, driver, &count, nullptr);
  std::vector<ze_device_handle_t> handles(count);
  PRIMSET_ZE(ze_, zeDeviceGet, driver, &count, handles.data());
  for (ze_device_handle_t handle : handles) {
    const DeviceInfo info = ask(ze_, driver, handle);
    const std::optional<uint32_t> group = compute_group(info);
    if (info.device.type != ZE_DEVICE_TYPE_GPU || !group ||
        info.module.maxArgumentsSize < kLeastParamBytes) {
      log(host_, PRIMSET_LOG_INFO,
          std::string("level_zero: ") + info.device.name + " is no GPU that takes our kernels");
      continue;
    }
    PhysicalDevice d;
    d.driver = driver;
    d.handle = handle;
    d.queue_group = *group;
    d.queues = info.queue_groups[*group].numQueues;
    d.largest_allocation = info.device.maxMemAllocSize;
    d.build_options = build_options(info);
    d.cache_target = cache_target(info);
    primset_backend::claim(describe(info), d.properties);
    d.properties.memory_alignment = kMemoryAlignment;
    devices_.push_back(d);
  }
}

}  // namespace primset_level_zero
