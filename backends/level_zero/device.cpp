#include "backends/level_zero/device.h"

#include <utility>

using namespace primset_level_zero;

namespace primset_level_zero {
namespace {

ze_context_handle_t create_context(const Functions& ze, ze_driver_handle_t driver) {
  const auto desc = structure<ze_context_desc_t>(ZE_STRUCTURE_TYPE_CONTEXT_DESC);
  return PRIMSET_ZE_MAKE(ze_context_handle_t, ze, zeContextCreate, driver, &desc);
}

}  // namespace
}  // namespace primset_level_zero

primset_device_t::primset_device_t(std::shared_ptr<Driver> shared, uint32_t index)
    : OpenDevice(std::move(shared), index),
      ze(driver->ze()),
      context(create_context(ze, physical.driver), {ze.zeContextDestroy}),
      events(ze, context.get(), physical.handle) {}

uint64_t primset_device_t::allocate(uint64_t bytes) {
  primset_backend::check_allocation(bytes, physical.properties.memory_bytes);
  auto relaxed = structure<ze_relaxed_allocation_limits_exp_desc_t>(
      ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC);
  relaxed.flags = ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE;
  auto desc = structure<ze_device_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
  if (bytes > physical.largest_allocation) desc.pNext = &relaxed;
  return reinterpret_cast<uint64_t>(
      PRIMSET_ZE_MAKE(void*, ze, zeMemAllocDevice, context.get(), &desc, bytes,
                      physical.properties.memory_alignment, physical.handle));
}

char* primset_device_t::allocate_on_host(uint64_t bytes) {
  const auto desc = structure<ze_host_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC);
  return static_cast<char*>(PRIMSET_ZE_MAKE(void*, ze, zeMemAllocHost, context.get(), &desc, bytes,
                                            physical.properties.memory_alignment));
}

void primset_device_t::free(uint64_t address) noexcept {
  ze.zeMemFree(context.get(), primset_backend::pointer(address));
}

ze_command_queue_desc_t primset_device_t::next_queue() const {
  auto desc = structure<ze_command_queue_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
  desc.ordinal = physical.queue_group;
  desc.index = queues_used_++ % physical.queues;
  desc.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
  return desc;
}
