// Command lists: immediate ones, which give each command to a queue of their own, and regular ones,
// which record for zeCommandQueueExecuteCommandLists.
#ifndef PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_COMMAND_LIST_H_
#define PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_COMMAND_LIST_H_

#include <memory>
#include <mutex>
#include <vector>

#include "backends/level_zero/cpu_driver/command_queue.h"
#include "backends/level_zero/cpu_driver/memory.h"

namespace primset_cpu_driver {

class CommandList : public Object, public std::enable_shared_from_this<CommandList> {
 public:
  CommandList(std::shared_ptr<Context> context, uint32_t device)
      : context_(std::move(context)), device_(device) {}
  CommandList(std::shared_ptr<Context> context, uint32_t device, bool is_synchronous)
      : context_(std::move(context)),
        device_(device),
        own_(std::make_unique<CommandQueue>(device)),
        is_synchronous_(is_synchronous) {}

  ze_result_t append(Command command);
  // Regular lists.
  ze_result_t close();
  ze_result_t reset();
  // What a queue is to run; false unless the list is regular and closed.
  bool recorded(std::vector<Command>& out);

  const std::shared_ptr<Context>& context() const { return context_; }
  uint32_t device() const { return device_; }

 private:
  ze_result_t check_device(const Command& command);
  ze_result_t check_hazards(const Command& command);

  const std::shared_ptr<Context> context_;
  const uint32_t device_;
  const std::unique_ptr<CommandQueue> own_;  // of an immediate list
  const bool is_synchronous_ = false;
  std::mutex mutex_;
  bool is_closed_ = false;
  std::vector<Command> commands_;  // of a regular list
  std::vector<Touch> unordered_;   // touched since the last command that orders
};

}  // namespace primset_cpu_driver

#endif  // PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_COMMAND_LIST_H_
