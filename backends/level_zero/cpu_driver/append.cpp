// The commands that lists take.
#include <level_zero/ze_ddi.h>

#include <array>
#include <cstring>
#include <string>

#include "backends/level_zero/cpu_driver/command_list.h"
#include "backends/level_zero/cpu_driver/device.h"
#include "backends/level_zero/cpu_driver/kernel.h"
#include "backends/level_zero/cpu_driver/settings.h"

namespace primset_cpu_driver {

void fill_list_functions(ze_command_list_dditable_t& table);

namespace {

using Access = Touch::Access;

Touch touch(const void* begin, size_t bytes, Access access) {
  const auto at = reinterpret_cast<uint64_t>(begin);
  return {at, at + bytes, access};
}

// What every command has: the events that it sets and waits for.
ze_result_t append(ze_command_list_handle_t handle, Command command, ze_event_handle_t signal,
                   uint32_t wait_count, ze_event_handle_t* waits) {
  PRIMSET_CPU_DRIVER_FIND(CommandList, list, handle);
  if (signal) {
    PRIMSET_CPU_DRIVER_FIND(Event, event, signal);
    command.signal = event;
  }
  for (uint32_t i = 0; i < wait_count; ++i) {
    PRIMSET_CPU_DRIVER_FIND(Event, event, waits[i]);
    command.waits.push_back(event);
  }
  return list->append(std::move(command));
}

// --- order ---------------------------------------------------------------------------------------

ze_result_t ZE_APICALL append_barrier(ze_command_list_handle_t list, ze_event_handle_t signal,
                                      uint32_t wait_count, ze_event_handle_t* waits) {
  Command command;
  command.barrier = true;
  return append(list, std::move(command), signal, wait_count, waits);
}

ze_result_t ZE_APICALL append_ranges_barrier(ze_command_list_handle_t list, uint32_t, const size_t*,
                                             const void**, ze_event_handle_t signal,
                                             uint32_t wait_count, ze_event_handle_t* waits) {
  return append_barrier(list, signal, wait_count, waits);
}

ze_result_t ZE_APICALL append_signal(ze_command_list_handle_t list, ze_event_handle_t event) {
  return append_barrier(list, event, 0, nullptr);
}

ze_result_t ZE_APICALL append_waits(ze_command_list_handle_t list, uint32_t count,
                                    ze_event_handle_t* waits) {
  return append_barrier(list, nullptr, count, waits);
}

ze_result_t ZE_APICALL append_reset(ze_command_list_handle_t list, ze_event_handle_t handle) {
  PRIMSET_CPU_DRIVER_FIND(Event, event, handle);
  Command command;
  command.barrier = true;
  command.reset = event;
  return append(list, std::move(command), nullptr, 0, nullptr);
}

// --- memory --------------------------------------------------------------------------------------

// Drivers take any of the host's memory for copies, and copy it while the caller waits; a test
// wants to know.
bool is_strange(ze_command_list_handle_t handle, const void* address) {
  const auto list = find<CommandList>(handle);
  return settings().strict && list && !list->context()->find(address);
}

// "device 1", or "the host".
std::string owner(const CommandList& list, const void* address) {
  const std::optional<Allocation> a = list.context()->find(address);
  return a && a->device ? "device " + std::to_string(*a->device) : "the host";
}

void trace_copy(ze_command_list_handle_t handle, const void* to, const void* from, size_t bytes) {
  if (!settings().trace) return;
  if (const auto list = find<CommandList>(handle))
    trace("copy of %zu bytes from %s to %s", bytes, owner(*list, from).c_str(),
          owner(*list, to).c_str());
}

ze_result_t ZE_APICALL append_copy(ze_command_list_handle_t list, void* to, const void* from,
                                   size_t bytes, ze_event_handle_t signal, uint32_t wait_count,
                                   ze_event_handle_t* waits) {
  if (!to || !from) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  if (is_strange(list, to) || is_strange(list, from))
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "a copy of memory that is not USM");
  trace_copy(list, to, from, bytes);
  Command command;
  command.touches = {touch(to, bytes, Access::write), touch(from, bytes, Access::read)};
  command.run = [=](cl_command_queue queue, cl_event* out) {
    return cl().enqueue_copy(queue, CL_FALSE, to, from, bytes, 0, nullptr, out);
  };
  return append(list, std::move(command), signal, wait_count, waits);
}

ze_result_t ZE_APICALL append_fill(ze_command_list_handle_t list, void* to, const void* pattern,
                                   size_t pattern_bytes, size_t bytes, ze_event_handle_t signal,
                                   uint32_t wait_count, ze_event_handle_t* waits) {
  if (pattern_bytes == 0 || pattern_bytes > kMaxPatternBytes || pattern_bytes & (pattern_bytes - 1))
    return ZE_RESULT_ERROR_INVALID_SIZE;
  if (is_strange(list, to))
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "a fill of memory that is not USM");
  std::array<char, kMaxPatternBytes> copied{};
  std::memcpy(copied.data(), pattern, pattern_bytes);
  Command command;
  command.touches = {touch(to, bytes, Access::write)};
  command.run = [=](cl_command_queue queue, cl_event* out) {
    return cl().enqueue_fill(queue, to, copied.data(), pattern_bytes, bytes, 0, nullptr, out);
  };
  return append(list, std::move(command), signal, wait_count, waits);
}

// --- launches ------------------------------------------------------------------------------------

ze_result_t ZE_APICALL append_launch(ze_command_list_handle_t list, ze_kernel_handle_t handle,
                                     const ze_group_count_t* groups, ze_event_handle_t signal,
                                     uint32_t wait_count, ze_event_handle_t* waits) {
  PRIMSET_CPU_DRIVER_FIND(Kernel, kernel, handle);
  if (groups->groupCountX == 0 || groups->groupCountY == 0 || groups->groupCountZ == 0)
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "a launch of no workgroups");
  trace("launch %s %u %u %u", kernel->name().c_str(), groups->groupCountX, groups->groupCountY,
        groups->groupCountZ);
  Command command;
  if (const ze_result_t result = kernel->launch(*groups, command)) return result;
  command.needs.push_back(kernel);
  return append(list, std::move(command), signal, wait_count, waits);
}

}  // namespace
}  // namespace primset_cpu_driver

using namespace primset_cpu_driver;

PRIMSET_CPU_DRIVER_TABLE(zeGetCommandListProcAddrTable, ze_command_list_dditable_t) {
  PRIMSET_CPU_DRIVER_CHECK_TABLE(version, t);
  fill_list_functions(*t);
  t->pfnAppendBarrier = append_barrier;
  t->pfnAppendMemoryRangesBarrier = append_ranges_barrier;
  t->pfnAppendSignalEvent = append_signal;
  t->pfnAppendWaitOnEvents = append_waits;
  t->pfnAppendEventReset = append_reset;
  t->pfnAppendMemoryCopy = append_copy;
  t->pfnAppendMemoryFill = append_fill;
  t->pfnAppendLaunchKernel = append_launch;
  return ZE_RESULT_SUCCESS;
}
