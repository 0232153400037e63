#include "backends/level_zero/driver.h"

#include "backends/level_zero/device_info.h"

namespace primset_level_zero {
namespace {

// Drivers align allocations as they are asked to.
constexpr uint32_t kMemoryAlignment = 256;
constexpr uint32_t kLeastParamBytes = 128;

}  // namespace

Driver::Driver(const primset_host* host) : DeviceList(host, "level_zero") {
  if (!ze_.load()) {
    tell("no libze_loader.so.1; no devices");
    return;
  }
  if (const ze_result_t result = ze_.zeInit(ZE_INIT_FLAG_GPU_ONLY)) {
    tell("no driver of a GPU on this machine; no devices (zeInit: " + kResults.name(result) + ")");
    return;
  }
  for (ze_driver_handle_t driver : PRIMSET_ZE_ALL(ze_, zeDriverGet, ze_driver_handle_t{}))
    for (auto handle : PRIMSET_ZE_ALL(ze_, zeDeviceGet, ze_device_handle_t{}, driver))
      add_device(driver, handle);
}

void Driver::add_device(ze_driver_handle_t driver, ze_device_handle_t handle) {
  const DeviceInfo info = ask(ze_, driver, handle);
  const std::optional<uint32_t> group = compute_group(info);
  if (info.device.type != ZE_DEVICE_TYPE_GPU || !group ||
      info.module.maxArgumentsSize < kLeastParamBytes)
    return tell(std::string(info.device.name) + " is no GPU that takes our kernels");
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

}  // namespace primset_level_zero
