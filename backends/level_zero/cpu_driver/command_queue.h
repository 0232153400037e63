// Commands and the queues that run them: a thread each, in front of an out-of-order queue of
// OpenCL. Commands that nothing orders are held back until a barrier, an event or a waiting host
// asks for them, and then go to the device in the order that the test wants.
#ifndef PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_COMMAND_QUEUE_H_
#define PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_COMMAND_QUEUE_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "backends/level_zero/cpu_driver/event.h"
#include "backends/level_zero/cpu_driver/opencl_device.h"

namespace primset_cpu_driver {

// Memory that a command reads or writes. Of a kernel's pointer only the first byte is known, and
// not what it does there.
struct Touch {
  enum class Access { read, write, unknown };
  uint64_t begin, end;
  Access access;
};

struct Command {
  // Enqueues it and gives its event, where out is not null. None: the command only orders.
  std::function<cl_int(cl_command_queue, cl_event* out)> run;
  bool barrier = false;  // after all earlier commands and before all later ones
  std::vector<std::shared_ptr<Event>> waits;
  std::shared_ptr<Event> signal, reset;
  std::vector<Touch> touches;
  std::vector<std::shared_ptr<Object>> needs;  // what it runs, and the list that it is in

  bool orders() const { return barrier || signal || reset || !waits.empty(); }
};

class CommandQueue : public Object {
 public:
  explicit CommandQueue(uint32_t device);
  // Runs all that was given.
  ~CommandQueue() override;

  void give(std::vector<Command> commands);
  // What is held back goes to the device now.
  void flush();
  // Until all that was given before is complete.
  ze_result_t synchronize();
  // Whether a command that is not complete touches the memory.
  bool touches(uint64_t begin, uint64_t end);

  uint32_t device() const { return device_; }

 private:
  struct Given {
    Command command;
    std::vector<Use> uses;
  };

  void work();
  void run_segment(std::vector<Given>& segment);
  bool take(std::vector<Given>& segment, std::optional<Given>& ordering);
  void run_ordering(Given given, std::vector<Given>& running);
  void complete(std::vector<Given>& commands);
  void note(cl_int error);

  const uint32_t device_;
  cl_command_queue queue_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Given> given_;
  std::deque<std::vector<Touch>> touched_;  // of commands that are not complete, oldest first
  bool flushed_ = false, ends_ = false;
  cl_int error_ = CL_SUCCESS;
  std::mt19937 random_{1};
  std::thread thread_;
};

// All queues, those of immediate lists included.
class Queues {
 public:
  void add(CommandQueue* queue);
  void remove(CommandQueue* queue);
  void flush();
  bool touch(uint64_t begin, uint64_t end);

 private:
  std::mutex mutex_;
  std::set<CommandQueue*> all_;
};
Queues& queues();

}  // namespace primset_cpu_driver

#endif  // PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_COMMAND_QUEUE_H_
