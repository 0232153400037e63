#include "backends/level_zero/cpu_driver/event.h"

#include <level_zero/ze_ddi.h>

#include <chrono>

#include "backends/level_zero/cpu_driver/command_queue.h"
#include "backends/level_zero/cpu_driver/device.h"
#include "backends/level_zero/cpu_driver/settings.h"

namespace primset_cpu_driver {

void Event::signal(Interval when) {
  const std::lock_guard lock(mutex_);
  set_ = true;
  when_ = when;
  changed_.notify_all();
}

void Event::reset() {
  const std::lock_guard lock(mutex_);
  set_ = false;
}

bool Event::wait(uint64_t nanoseconds) {
  // As far as the clock's own arithmetic goes; it is as good as for ever.
  constexpr uint64_t kLongest = 1'000'000'000'000'000;
  std::unique_lock lock(mutex_);
  const auto is_set = [this] { return set_; };
  if (nanoseconds < kLongest)
    return changed_.wait_for(lock, std::chrono::nanoseconds(nanoseconds), is_set);
  changed_.wait(lock, is_set);
  return true;
}

Interval Event::when() {
  const std::lock_guard lock(mutex_);
  return when_;
}

namespace {

// What a host waits for must have been given to the device.
ze_result_t wait(Event& event, uint64_t nanoseconds) {
  queues().flush();
  return event.wait(nanoseconds) ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

ze_result_t reset(Event& event, const char* function) {
  if (settings().strict && event.uses > 0)
    return refuse(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, "%s: %d commands still use it",
                  function, event.uses.load());
  event.reset();
  return ZE_RESULT_SUCCESS;
}

// --- events --------------------------------------------------------------------------------------

ze_result_t ZE_APICALL event_pool_create(ze_context_handle_t, const ze_event_pool_desc_t* desc,
                                         uint32_t device_count, ze_device_handle_t* devices,
                                         ze_event_pool_handle_t* out) {
  if (desc->count == 0 || (!devices && device_count > 0)) return ZE_RESULT_ERROR_INVALID_SIZE;
  auto pool = std::make_shared<EventPool>();
  pool->count = desc->count;
  for (uint32_t i = 0; i < device_count; ++i) {
    PRIMSET_CPU_DRIVER_FIND_DEVICE(device, devices[i]);
    pool->devices.push_back(device);
  }
  return give_out(std::move(pool), out);
}

ze_result_t ZE_APICALL event_pool_destroy(ze_event_pool_handle_t pool) {
  return destroy(pool, "zeEventPoolDestroy");
}

ze_result_t ZE_APICALL event_create(ze_event_pool_handle_t handle, const ze_event_desc_t* desc,
                                    ze_event_handle_t* out) {
  PRIMSET_CPU_DRIVER_FIND(EventPool, pool, handle);
  if (desc->index >= pool->count) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  return give_out(std::make_shared<Event>(pool->devices), out);
}

ze_result_t ZE_APICALL event_destroy(ze_event_handle_t event) {
  return destroy(event, "zeEventDestroy");
}

ze_result_t ZE_APICALL event_host_signal(ze_event_handle_t handle) {
  PRIMSET_CPU_DRIVER_FIND(Event, event, handle);
  event->signal();
  return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL event_host_synchronize(ze_event_handle_t handle, uint64_t nanoseconds) {
  PRIMSET_CPU_DRIVER_FIND(Event, event, handle);
  return wait(*event, nanoseconds);
}

ze_result_t ZE_APICALL event_query_status(ze_event_handle_t handle) {
  PRIMSET_CPU_DRIVER_FIND(Event, event, handle);
  return wait(*event, 0);
}

ze_result_t ZE_APICALL event_host_reset(ze_event_handle_t handle) {
  PRIMSET_CPU_DRIVER_FIND(Event, event, handle);
  return reset(*event, "zeEventHostReset");
}

ze_result_t ZE_APICALL event_timestamp(ze_event_handle_t handle,
                                       ze_kernel_timestamp_result_t* out) {
  PRIMSET_CPU_DRIVER_FIND(Event, event, handle);
  if (!event->wait(0)) return ZE_RESULT_NOT_READY;
  const Interval when = event->when();
  out->global.kernelStart = out->context.kernelStart = when.start;
  out->global.kernelEnd = out->context.kernelEnd = when.end;
  return ZE_RESULT_SUCCESS;
}

// --- fences --------------------------------------------------------------------------------------

ze_result_t ZE_APICALL fence_create(ze_command_queue_handle_t, const ze_fence_desc_t* desc,
                                    ze_fence_handle_t* out) {
  auto fence = std::make_shared<Fence>();
  if (desc->flags & ZE_FENCE_FLAG_SIGNALED) fence->signal();
  return give_out(std::move(fence), out);
}

ze_result_t ZE_APICALL fence_destroy(ze_fence_handle_t fence) {
  return destroy(fence, "zeFenceDestroy");
}

ze_result_t ZE_APICALL fence_host_synchronize(ze_fence_handle_t handle, uint64_t nanoseconds) {
  PRIMSET_CPU_DRIVER_FIND(Fence, fence, handle);
  return wait(*fence, nanoseconds);
}

ze_result_t ZE_APICALL fence_query_status(ze_fence_handle_t handle) {
  PRIMSET_CPU_DRIVER_FIND(Fence, fence, handle);
  return wait(*fence, 0);
}

ze_result_t ZE_APICALL fence_reset(ze_fence_handle_t handle) {
  PRIMSET_CPU_DRIVER_FIND(Fence, fence, handle);
  return reset(*fence, "zeFenceReset");
}

}  // namespace
}  // namespace primset_cpu_driver

using namespace primset_cpu_driver;

PRIMSET_CPU_DRIVER_TABLE(zeGetEventPoolProcAddrTable, ze_event_pool_dditable_t) {
  PRIMSET_CPU_DRIVER_CHECK_TABLE(version, t);
  t->pfnCreate = event_pool_create;
  t->pfnDestroy = event_pool_destroy;
  return ZE_RESULT_SUCCESS;
}

PRIMSET_CPU_DRIVER_TABLE(zeGetEventProcAddrTable, ze_event_dditable_t) {
  PRIMSET_CPU_DRIVER_CHECK_TABLE(version, t);
  t->pfnCreate = event_create;
  t->pfnDestroy = event_destroy;
  t->pfnHostSignal = event_host_signal;
  t->pfnHostSynchronize = event_host_synchronize;
  t->pfnQueryStatus = event_query_status;
  t->pfnHostReset = event_host_reset;
  t->pfnQueryKernelTimestamp = event_timestamp;
  return ZE_RESULT_SUCCESS;
}

PRIMSET_CPU_DRIVER_TABLE(zeGetFenceProcAddrTable, ze_fence_dditable_t) {
  PRIMSET_CPU_DRIVER_CHECK_TABLE(version, t);
  t->pfnCreate = fence_create;
  t->pfnDestroy = fence_destroy;
  t->pfnHostSynchronize = fence_host_synchronize;
  t->pfnQueryStatus = fence_query_status;
  t->pfnReset = fence_reset;
  return ZE_RESULT_SUCCESS;
}
