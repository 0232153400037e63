#include "backends/level_zero/command_list.h"

#include "backends/level_zero/device.h"

namespace primset_level_zero {

CommandList::CommandList(const primset_device_t& device, Kind kind) : ze_(device.ze) {
  if (kind == Kind::immediate) {
    const ze_command_queue_desc_t desc = device.next_queue();
    PRIMSET_ZE(ze_, zeCommandListCreateImmediate, device.context, device.physical.handle, &desc,
               &handle_);
    return;
  }
  ze_command_list_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC;
  desc.commandQueueGroupOrdinal = device.physical.queue_group;
  PRIMSET_ZE(ze_, zeCommandListCreate, device.context, device.physical.handle, &desc, &handle_);
}

CommandList::~CommandList() {
  ze_.zeCommandListDestroy(handle_);
}

void CommandList::order() {
  if (!unordered_) return;
  PRIMSET_ZE(ze_, zeCommandListAppendBarrier, handle_, nullptr, 0, nullptr);
  unordered_ = false;
}

void CommandList::copy(uint64_t to, uint64_t from, uint64_t bytes) {
  unordered_ = true;
  PRIMSET_ZE(ze_, zeCommandListAppendMemoryCopy, handle_, reinterpret_cast<void*>(to),
             reinterpret_cast<const void*>(from), bytes, nullptr, 0, nullptr);
}

void CommandList::fill(uint64_t to, uint64_t bytes, const void* pattern, uint32_t pattern_bytes) {
  unordered_ = true;
  PRIMSET_ZE(ze_, zeCommandListAppendMemoryFill, handle_, reinterpret_cast<void*>(to), pattern,
             pattern_bytes, bytes, nullptr, 0, nullptr);
}

void CommandList::launch(ze_kernel_handle_t kernel, const uint32_t groups[3]) {
  unordered_ = true;
  const ze_group_count_t count{groups[0], groups[1], groups[2]};
  PRIMSET_ZE(ze_, zeCommandListAppendLaunchKernel, handle_, kernel, &count, nullptr, 0, nullptr);
}

void CommandList::signal(ze_event_handle_t event) {
  PRIMSET_ZE(ze_, zeCommandListAppendBarrier, handle_, event, 0, nullptr);
  unordered_ = false;
}

void CommandList::wait(ze_event_handle_t event) {
  PRIMSET_ZE(ze_, zeCommandListAppendBarrier, handle_, nullptr, 1, &event);
  unordered_ = false;
}

void CommandList::wait_and_reset(ze_event_handle_t event) {
  wait(event);
  unordered_ = true;
  PRIMSET_ZE(ze_, zeCommandListAppendEventReset, handle_, event);
}

void CommandList::close() {
  PRIMSET_ZE(ze_, zeCommandListClose, handle_);
}

}  // namespace primset_level_zero
