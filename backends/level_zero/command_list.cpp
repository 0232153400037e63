#include "backends/level_zero/command_list.h"

#include "backends/level_zero/device.h"

namespace primset_level_zero {

namespace {

ze_command_list_handle_t create(const primset_device_t& device, CommandList::Kind kind) {
  ze_context_handle_t context = device.context->handle.get();
  if (kind == CommandList::Kind::immediate) {
    const ze_command_queue_desc_t queue = device.next_queue();
    return PRIMSET_ZE_MAKE(ze_command_list_handle_t, device.ze, zeCommandListCreateImmediate,
                           context, device.physical.handle, &queue);
  }
  auto desc = structure<ze_command_list_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC);
  desc.commandQueueGroupOrdinal = device.physical.queue_group;
  return PRIMSET_ZE_MAKE(ze_command_list_handle_t, device.ze, zeCommandListCreate, context,
                         device.physical.handle, &desc);
}

}  // namespace

CommandList::CommandList(const primset_device_t& device, Kind kind)
    : ze_(device.ze), handle_(create(device, kind), {ze_.zeCommandListDestroy}) {}

void CommandList::order() {
  if (!unordered_) return;
  PRIMSET_ZE(ze_, zeCommandListAppendBarrier, handle(), nullptr, 0, nullptr);
  unordered_ = false;
}

void CommandList::copy(void* to, const void* from, uint64_t bytes) {
  unordered_ = true;
  PRIMSET_ZE(ze_, zeCommandListAppendMemoryCopy, handle(), to, from, bytes, nullptr, 0, nullptr);
}

void CommandList::fill(void* to, uint64_t bytes, const void* pattern, uint32_t pattern_bytes) {
  unordered_ = true;
  PRIMSET_ZE(ze_, zeCommandListAppendMemoryFill, handle(), to, pattern, pattern_bytes, bytes,
             nullptr, 0, nullptr);
}

void CommandList::launch(ze_kernel_handle_t kernel, const uint32_t groups[3]) {
  unordered_ = true;
  const ze_group_count_t count{groups[0], groups[1], groups[2]};
  PRIMSET_ZE(ze_, zeCommandListAppendLaunchKernel, handle(), kernel, &count, nullptr, 0, nullptr);
}

void CommandList::signal(ze_event_handle_t event) {
  PRIMSET_ZE(ze_, zeCommandListAppendBarrier, handle(), event, 0, nullptr);
  unordered_ = false;
}

void CommandList::wait(ze_event_handle_t event) {
  PRIMSET_ZE(ze_, zeCommandListAppendBarrier, handle(), nullptr, 1, &event);
  unordered_ = false;
}

void CommandList::wait_and_reset(ze_event_handle_t event) {
  wait(event);
  unordered_ = true;
  PRIMSET_ZE(ze_, zeCommandListAppendEventReset, handle(), event);
}

void CommandList::close() {
  PRIMSET_ZE(ze_, zeCommandListClose, handle());
}

}  // namespace primset_level_zero
