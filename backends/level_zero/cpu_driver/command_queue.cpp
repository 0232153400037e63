#include "backends/level_zero/cpu_driver/command_queue.h"

#include <algorithm>
#include <chrono>

#include "backends/level_zero/cpu_driver/settings.h"

namespace primset_cpu_driver {
namespace {

uint64_t now() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

std::vector<Use> uses_of(const Command& command) {
  std::vector<Use> uses;
  for (const auto& event : command.waits) uses.emplace_back(event);
  if (command.signal) uses.emplace_back(command.signal);
  if (command.reset) uses.emplace_back(command.reset);
  for (const auto& object : command.needs) uses.emplace_back(object);
  return uses;
}

// One queue at a time waits for the device: the CPU's runtime has been seen to hang where several
// do, each waiting for the workers of the others.
cl_int finish(cl_command_queue queue) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return clFinish(queue);
}

}  // namespace

CommandQueue::CommandQueue(uint32_t device) : device_(device) {
  const cl_queue_properties properties[] = {
      CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE, 0};
  queue_ = clCreateCommandQueueWithProperties(cl().context, cl().device, properties, &error_);
  thread_ = std::thread([this] { work(); });
  queues().add(this);
}

CommandQueue::~CommandQueue() {
  queues().remove(this);
  {
    const std::lock_guard lock(mutex_);
    ends_ = flushed_ = true;
    changed_.notify_all();
  }
  thread_.join();
  clReleaseCommandQueue(queue_);
}

void CommandQueue::give(std::vector<Command> commands) {
  const std::lock_guard lock(mutex_);
  for (Command& c : commands) {
    if (c.orders() || settings().order == Order::given) flushed_ = true;
    touched_.push_back(c.touches);
    std::vector<Use> uses = uses_of(c);
    given_.push_back({std::move(c), std::move(uses)});
  }
  if (flushed_) changed_.notify_all();
}

void CommandQueue::flush() {
  const std::lock_guard lock(mutex_);
  flushed_ = true;
  changed_.notify_all();
}

ze_result_t CommandQueue::synchronize() {
  auto reached = std::make_shared<Event>();
  Command end;
  end.barrier = true;
  end.signal = reached;
  std::vector<Command> commands;
  commands.push_back(std::move(end));
  give(std::move(commands));
  queues().flush();
  reached->wait(UINT64_MAX);
  const std::lock_guard lock(mutex_);
  return error_ == CL_SUCCESS ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_DEVICE_LOST;
}

bool CommandQueue::touches(uint64_t begin, uint64_t end) {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(touched_, [&](const std::vector<Touch>& all) {
    return std::ranges::any_of(all, [&](const Touch& t) { return t.begin < end && t.end > begin; });
  });
}

void CommandQueue::note(cl_int error) {
  if (error == CL_SUCCESS) return;
  refuse(ZE_RESULT_SUCCESS, "a command failed on the device: OpenCL's error %d", error);
  const std::lock_guard lock(mutex_);
  error_ = error;
}

// Commands that nothing orders, in the order that the test wants. Reversed, they run one after the
// other: the first one given certainly ends last. Else they may overlap.
void CommandQueue::run_segment(std::vector<Given>& segment) {
  const bool reversed = settings().order == Order::reverse;
  if (reversed) std::ranges::reverse(segment);
  if (settings().order == Order::shuffle) std::ranges::shuffle(segment, random_);
  for (const Given& g : segment) {
    if (reversed && &g != &segment.front())
      note(clEnqueueBarrierWithWaitList(queue_, 0, nullptr, nullptr));
    note(g.command.run(queue_, nullptr));
  }
}

// Waits for the device; nothing uses what these commands used from here on.
void CommandQueue::complete(std::vector<Given>& commands) {
  note(finish(queue_));
  const size_t count = commands.size();
  commands.clear();
  const std::lock_guard lock(mutex_);
  touched_.erase(touched_.begin(), touched_.begin() + static_cast<ptrdiff_t>(count));
}

// A command with events, or a barrier. All earlier ones are complete when its events are set, which
// is more than Level Zero promises.
void CommandQueue::run_ordering(Given given, std::vector<Given>& running) {
  const Command command = given.command;
  const bool is_bare = !command.signal && !command.reset && command.waits.empty();
  if (is_bare && !command.run) {
    if (settings().barriers) note(clEnqueueBarrierWithWaitList(queue_, 0, nullptr, nullptr));
    running.push_back(std::move(given));
    return;
  }
  complete(running);
  for (const auto& event : command.waits) event->wait(UINT64_MAX);
  Interval when{now(), 0};
  cl_event done = nullptr;
  if (command.run) note(command.run(queue_, &done));
  running.push_back(std::move(given));
  complete(running);
  if (done) {
    clGetEventProfilingInfo(done, CL_PROFILING_COMMAND_START, 8, &when.start, nullptr);
    clGetEventProfilingInfo(done, CL_PROFILING_COMMAND_END, 8, &when.end, nullptr);
    clReleaseEvent(done);
  } else {
    when.end = now();
  }
  // Last: who waits for it may destroy everything.
  if (command.reset) command.reset->reset();
  if (command.signal) command.signal->signal(when);
}

// Takes commands up to the first that orders; false when there will be no more.
bool CommandQueue::take(std::vector<Given>& segment, std::optional<Given>& ordering) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return flushed_; });
  while (!given_.empty() && !ordering) {
    Given next = std::move(given_.front());
    given_.pop_front();
    if (next.command.orders()) {
      ordering.emplace(std::move(next));
    } else {
      segment.push_back(std::move(next));
    }
  }
  if (given_.empty() && !ends_) flushed_ = false;
  return ordering || !segment.empty() || !ends_;
}

void CommandQueue::work() {
  std::vector<Given> running;  // not known to be complete
  for (;;) {
    std::vector<Given> segment;
    std::optional<Given> ordering;
    if (!take(segment, ordering)) break;
    run_segment(segment);
    std::ranges::move(segment, std::back_inserter(running));
    if (ordering) {
      run_ordering(std::move(*ordering), running);
    } else {
      note(clFlush(queue_));
    }
  }
  complete(running);
}

void Queues::add(CommandQueue* queue) {
  const std::lock_guard lock(mutex_);
  all_.insert(queue);
}

void Queues::remove(CommandQueue* queue) {
  const std::lock_guard lock(mutex_);
  all_.erase(queue);
}

void Queues::flush() {
  const std::lock_guard lock(mutex_);
  for (CommandQueue* q : all_) q->flush();
}

bool Queues::touch(uint64_t begin, uint64_t end) {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(all_, [&](CommandQueue* q) { return q->touches(begin, end); });
}

Queues& queues() {
  static auto* const all = new Queues;
  return *all;
}

}  // namespace primset_cpu_driver
