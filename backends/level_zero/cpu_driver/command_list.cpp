#include "backends/level_zero/cpu_driver/command_list.h"

#include <level_zero/ze_ddi.h>

#include "backends/level_zero/cpu_driver/device.h"
#include "backends/level_zero/cpu_driver/settings.h"

namespace primset_cpu_driver {
namespace {

// Certainly a race: of a kernel's pointer it is not known whether the kernel reads or writes there.
bool races(const Touch& earlier, const Touch& later) {
  using enum Touch::Access;
  if (earlier.begin >= later.end || later.begin >= earlier.end) return false;
  if (earlier.access == unknown) return later.access == write;
  if (later.access == unknown) return earlier.access == write;
  return earlier.access == write || later.access == write;
}

}  // namespace

// What a command uses must be there for the list's device: events of its pools, memory that it
// reaches.
ze_result_t CommandList::check_device(const Command& command) {
  std::vector<std::shared_ptr<Event>> events = command.waits;
  for (const auto& event : {command.signal, command.reset})
    if (event) events.push_back(event);
  for (const auto& event : events)
    if (!event->serves(device_))
      return refuse(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
                    "a list of device %u uses an event whose pool was made without it", device_);
  for (const Touch& touch : command.touches) {
    const std::optional<Allocation> a = context_->find(reinterpret_cast<const void*>(touch.begin));
    if (a && a->device && !reaches(device_, *a->device))
      return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                    "a list of device %u uses memory of device %u, which it does not reach",
                    device_, *a->device);
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t CommandList::check_hazards(const Command& command) {
  if (command.orders()) unordered_.clear();
  for (const Touch& later : command.touches) {
    for (const Touch& earlier : unordered_)
      if (races(earlier, later))
        return refuse(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
                      "no barrier parts two commands that use the memory at %#lx, one of which "
                      "writes it",
                      static_cast<unsigned long>(later.begin));
  }
  unordered_.insert(unordered_.end(), command.touches.begin(), command.touches.end());
  return ZE_RESULT_SUCCESS;
}

ze_result_t CommandList::append(Command command) {
  const std::lock_guard lock(mutex_);
  if (is_closed_) return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the command list is closed");
  if (settings().strict) {
    if (const ze_result_t result = check_device(command)) return result;
    if (const ze_result_t result = check_hazards(command)) return result;
  }
  if (!own_) {
    commands_.push_back(std::move(command));
    return ZE_RESULT_SUCCESS;
  }
  std::vector<Command> one;
  one.push_back(std::move(command));
  own_->give(std::move(one));
  return is_synchronous_ ? own_->synchronize() : ZE_RESULT_SUCCESS;
}

ze_result_t CommandList::close() {
  const std::lock_guard lock(mutex_);
  if (own_) return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "an immediate list is not closed");
  is_closed_ = true;
  return ZE_RESULT_SUCCESS;
}

ze_result_t CommandList::reset() {
  const std::lock_guard lock(mutex_);
  if (own_) return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "an immediate list is not reset");
  if (settings().strict && uses > 0)
    return refuse(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, "the command list still runs");
  is_closed_ = false;
  commands_.clear();
  unordered_.clear();
  return ZE_RESULT_SUCCESS;
}

bool CommandList::recorded(std::vector<Command>& out) {
  const std::lock_guard lock(mutex_);
  if (own_ || !is_closed_) return false;
  Command barrier;  // one list of a queue runs behind the other
  barrier.barrier = true;
  out.push_back(barrier);
  for (const Command& c : commands_) {
    out.push_back(c);
    out.back().needs.push_back(shared_from_this());
  }
  return true;
}

namespace {

ze_result_t ZE_APICALL list_create(ze_context_handle_t handle, ze_device_handle_t device_handle,
                                   const ze_command_list_desc_t* desc,
                                   ze_command_list_handle_t* out) {
  PRIMSET_CPU_DRIVER_FIND(Context, context, handle);
  PRIMSET_CPU_DRIVER_FIND_DEVICE(device, device_handle);
  if (desc->commandQueueGroupOrdinal > 0) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  return give_out(std::make_shared<CommandList>(context, device), out);
}

ze_result_t ZE_APICALL list_create_immediate(ze_context_handle_t handle,
                                             ze_device_handle_t device_handle,
                                             const ze_command_queue_desc_t* desc,
                                             ze_command_list_handle_t* out) {
  PRIMSET_CPU_DRIVER_FIND(Context, context, handle);
  PRIMSET_CPU_DRIVER_FIND_DEVICE(device, device_handle);
  if (desc->ordinal > 0 || desc->index >= kQueues) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  const bool is_synchronous = desc->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
  return give_out(std::make_shared<CommandList>(context, device, is_synchronous), out);
}

ze_result_t ZE_APICALL list_destroy(ze_command_list_handle_t list) {
  return destroy(list, "zeCommandListDestroy");
}

ze_result_t ZE_APICALL list_close(ze_command_list_handle_t handle) {
  PRIMSET_CPU_DRIVER_FIND(CommandList, list, handle);
  return list->close();
}

ze_result_t ZE_APICALL list_reset(ze_command_list_handle_t handle) {
  PRIMSET_CPU_DRIVER_FIND(CommandList, list, handle);
  return list->reset();
}

// --- queues --------------------------------------------------------------------------------------

ze_result_t ZE_APICALL queue_create(ze_context_handle_t, ze_device_handle_t device_handle,
                                    const ze_command_queue_desc_t* desc,
                                    ze_command_queue_handle_t* out) {
  PRIMSET_CPU_DRIVER_FIND_DEVICE(device, device_handle);
  if (desc->ordinal > 0 || desc->index >= kQueues) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  return give_out(std::make_shared<CommandQueue>(device), out);
}

ze_result_t ZE_APICALL queue_destroy(ze_command_queue_handle_t queue) {
  return destroy(queue, "zeCommandQueueDestroy");
}

ze_result_t ZE_APICALL queue_execute(ze_command_queue_handle_t handle, uint32_t count,
                                     ze_command_list_handle_t* lists, ze_fence_handle_t fence) {
  PRIMSET_CPU_DRIVER_FIND(CommandQueue, queue, handle);
  std::vector<Command> commands;
  for (uint32_t i = 0; i < count; ++i) {
    PRIMSET_CPU_DRIVER_FIND(CommandList, list, lists[i]);
    if (list->device() != queue->device())
      return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                    "zeCommandQueueExecuteCommandLists: list %u is of device %u, the queue of %u",
                    i, list->device(), queue->device());
    if (!list->recorded(commands))
      return refuse(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE,
                    "zeCommandQueueExecuteCommandLists: list %u is immediate or not closed", i);
  }
  if (fence) {
    PRIMSET_CPU_DRIVER_FIND(Fence, signal, fence);
    Command end;
    end.barrier = true;
    end.signal = signal;
    commands.push_back(std::move(end));
  }
  queue->give(std::move(commands));
  queue->flush();
  return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL queue_synchronize(ze_command_queue_handle_t handle, uint64_t) {
  PRIMSET_CPU_DRIVER_FIND(CommandQueue, queue, handle);
  return queue->synchronize();
}

}  // namespace

void fill_list_functions(ze_command_list_dditable_t& table) {
  table.pfnCreate = list_create;
  table.pfnCreateImmediate = list_create_immediate;
  table.pfnDestroy = list_destroy;
  table.pfnClose = list_close;
  table.pfnReset = list_reset;
}

}  // namespace primset_cpu_driver

using namespace primset_cpu_driver;

PRIMSET_CPU_DRIVER_TABLE(zeGetCommandQueueProcAddrTable, ze_command_queue_dditable_t) {
  PRIMSET_CPU_DRIVER_CHECK_TABLE(version, t);
  t->pfnCreate = queue_create;
  t->pfnDestroy = queue_destroy;
  t->pfnExecuteCommandLists = queue_execute;
  t->pfnSynchronize = queue_synchronize;
  return ZE_RESULT_SUCCESS;
}
