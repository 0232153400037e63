// The two ways in which a process stops being what a call began in: it ends, or it forks.
//
// END. exit() runs the destructors of the libraries that calls of other threads are inside of: of
// drivers, of LLVM. Before that, the SDK's exit handler waits for running calls (at most two
// seconds), and calls that begin afterwards, or end afterwards, never return: their threads stop
// with the process. The thread that exits may go on calling, from its own handlers and destructors.
// Objects of the SDK's own are never destroyed (-fc++-static-destructors=thread-local).
//
// FORK. A child has the driver's memory but not its threads. A device with queues that was opened
// before is refused in the child by an error; the CPU keeps working. When the child ends, handlers
// that drivers registered at the opening, which would wait for those threads, are not run.
#ifndef PRIMSET_SDK_RUNTIME_SUPPORT_PROCESS_END_H_
#define PRIMSET_SDK_RUNTIME_SUPPORT_PROCESS_END_H_

#include <atomic>
#include <cstdint>

#include "sdk/runtime/support/epoch.h"
#include "sdk/runtime/support/host_state.h"

namespace primset::runtime {

namespace process_end {
inline constinit std::atomic<bool> exiting{false};
inline constinit std::atomic<uint32_t> forks{0};
// Returns in the thread that exits; in another never.
void wait_for_the_end();
}  // namespace process_end

// A driver or a compiler was loaded and has registered its exit handlers: ours must run before.
// has_threads: the handlers wait for threads that a forked child lacks.
void expect_exit(bool has_threads);

// How often this process and those that it was forked from have forked.
inline uint32_t fork_count() {
  return process_end::forks.load(std::memory_order_relaxed);
}

// What every call from outside has around it: the default floating-point environment, and a mark
// that it runs. Nests.
class CallScope {
 public:
  CallScope() : record_(epoch::this_thread ? epoch::this_thread : epoch::register_thread()) {
    record_->calls.store(record_->calls.load(std::memory_order_relaxed) + 1,
                         std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // see wait_for_calls
    if (process_end::exiting.load(std::memory_order_relaxed)) [[unlikely]]
      process_end::wait_for_the_end();
  }
  ~CallScope() {
    record_->calls.store(record_->calls.load(std::memory_order_relaxed) - 1,
                         std::memory_order_release);
  }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  DefaultFloatingPoint floating_point_;
  epoch::ThreadRecord* record_;
};

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_SUPPORT_PROCESS_END_H_
