#include "backends/level_zero/device.h"

#include <utility>

using namespace primset_level_zero;

namespace {

bool can_access(const primset_device_t& device, const primset_device_t& peer) {
  ze_bool_t can = 0;
  PRIMSET_ZE(device.ze, zeDeviceCanAccessPeer, device.physical.handle, peer.physical.handle, &can);
  return can != 0;
}

}  // namespace

primset_device_t::primset_device_t(std::shared_ptr<Driver> shared, uint32_t index)
    : OpenDevice(std::move(shared), index),
      ze(driver->ze()),
      context(driver->context(physical.driver)) {}

uint64_t primset_device_t::allocate(uint64_t bytes) {
  primset_backend::check_allocation(bytes, physical.properties.memory_bytes);
  auto relaxed = structure<ze_relaxed_allocation_limits_exp_desc_t>(
      ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC);
  relaxed.flags = ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE;
  auto desc = structure<ze_device_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
  if (bytes > physical.largest_allocation) desc.pNext = &relaxed;
  return reinterpret_cast<uint64_t>(
      PRIMSET_ZE_MAKE(void*, ze, zeMemAllocDevice, context->handle.get(), &desc, bytes,
                      physical.properties.memory_alignment, physical.handle));
}

char* primset_device_t::allocate_on_host(uint64_t bytes) {
  const auto desc = structure<ze_host_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC);
  return static_cast<char*>(PRIMSET_ZE_MAKE(void*, ze, zeMemAllocHost, context->handle.get(), &desc,
                                            bytes, physical.properties.memory_alignment));
}

void primset_device_t::free(uint64_t address) noexcept {
  ze.zeMemFree(context->handle.get(), primset_backend::pointer(address));
}

// Devices of two ze drivers, or opened before and after a release of the plugin, share no context.
bool primset_device_t::reach(const primset_device_t& peer) const {
  if (context != peer.context || physical.handle == peer.physical.handle) return false;
  return can_access(*this, peer) && can_access(peer, *this);
}

ze_command_queue_desc_t primset_device_t::next_queue() const {
  auto desc = structure<ze_command_queue_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
  desc.ordinal = physical.queue_group;
  desc.index = queues_used_++ % physical.queues;
  desc.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
  return desc;
}
