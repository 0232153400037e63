#include "backends/level_zero/device.h"

using namespace primset_level_zero;

namespace primset_level_zero {
namespace {

ze_context_handle_t create_context(const Functions& ze, ze_driver_handle_t driver) {
  ze_context_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC;
  ze_context_handle_t context = nullptr;
  PRIMSET_ZE(ze, zeContextCreate, driver, &desc, &context);
  return context;
}

}  // namespace
}  // namespace primset_level_zero

primset_device_t::primset_device_t(std::shared_ptr<Driver> driver_, uint32_t index)
    : driver(std::move(driver_)),
      ze(driver->ze()),
      physical(driver->devices().at(index)),
      binaries(driver->host(), physical.cache_target),
      context(create_context(ze, physical.driver)),
      events(std::make_unique<EventPool>(ze, context, physical.handle)) {}

primset_device_t::~primset_device_t() {
  events.reset();
  ze.zeContextDestroy(context);
}

uint64_t primset_device_t::allocate(uint64_t bytes) {
  if (bytes > physical.properties.memory_bytes)
    throw BackendError(PRIMSET_OUT_OF_MEMORY, std::to_string(bytes) + " bytes; the device has " +
                                                  std::to_string(physical.properties.memory_bytes));
  ze_relaxed_allocation_limits_exp_desc_t relaxed{};
  relaxed.stype = ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC;
  relaxed.flags = ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE;
  ze_device_mem_alloc_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC;
  if (bytes > physical.largest_allocation) desc.pNext = &relaxed;
  void* address = nullptr;
  PRIMSET_ZE(ze, zeMemAllocDevice, context, &desc, bytes, physical.properties.memory_alignment,
             physical.handle, &address);
  return reinterpret_cast<uint64_t>(address);
}

char* primset_device_t::allocate_on_host(uint64_t bytes) {
  ze_host_mem_alloc_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC;
  void* address = nullptr;
  PRIMSET_ZE(ze, zeMemAllocHost, context, &desc, bytes, physical.properties.memory_alignment,
             &address);
  return static_cast<char*>(address);
}

void primset_device_t::free(uint64_t address) noexcept {
  ze.zeMemFree(context, reinterpret_cast<void*>(address));
}

void primset_device_t::free_on_host(char* address) noexcept {
  ze.zeMemFree(context, address);
}

ze_command_queue_desc_t primset_device_t::next_queue() const {
  ze_command_queue_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
  desc.ordinal = physical.queue_group;
  desc.index = queues_used_++ % physical.queues;
  desc.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
  return desc;
}
