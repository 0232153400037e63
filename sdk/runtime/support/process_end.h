// The two ways in which a process stops being what a call began in: it ends, or it forks.
//
// END. exit() runs the destructors of the libraries that calls of other threads are inside of: of
// drivers, of LLVM. Before that, the SDK waits for running calls (at most two seconds), and calls
// that begin afterwards, or end afterwards, never return: their threads stop with the process. The
// thread that exits may go on calling, from its own handlers and destructors. The wait is in the
// end of what exit()'s thread has of its own (thread_local), which comes before every handler. A
// thread that never called the SDK has nothing of it: then an exit handler waits, which libraries
// may precede that loaded, or made static objects, during a first call that runs still.
// Objects of the SDK's own are never destroyed (-fc++-static-destructors=thread-local).
//
// FORK. A child has the driver's memory but not its threads. A device with queues that was opened
// before is refused in the child by an error; the CPU keeps working. For that no lock may be held
// by a thread that the child lacks: fork() waits for running calls (at most two seconds), and calls
// that begin meanwhile wait for it. Where a call runs longer, the child's calls are errors. When
// the child ends, handlers that drivers registered at the opening, which would wait for those
// threads, are not run.
#ifndef PRIMSET_SDK_RUNTIME_SUPPORT_PROCESS_END_H_
#define PRIMSET_SDK_RUNTIME_SUPPORT_PROCESS_END_H_

#include <atomic>
#include <cstdint>

#include "sdk/runtime/support/epoch.h"
#include "sdk/runtime/support/host_state.h"

namespace primset::runtime {

namespace process_end {
// Why a call may not simply begin.
enum Stop : uint32_t { exiting = 1, forking = 2, forked_in_a_call = 4 };
inline constinit std::atomic<uint32_t> stopped{0};
inline constinit std::atomic<uint32_t> forks{0};
// Returns when the fork is over. Where the process exits: at once in the thread that exits, in
// another never.
void wait_to_begin();
// Throws in a child that was forked inside of another thread's call.
void require_whole_process();
// fork() looks after running calls from now on. Called with the first thread's record.
void watch_forks();
// Of a thread that has called: waits for the others' calls where the process ends with it.
void this_thread_ends();
}  // namespace process_end

// A driver or a compiler was loaded and has registered its exit handlers: ours must run before.
// has_threads: the handlers wait for threads that a forked child lacks.
void expect_exit(bool has_threads);

// How often this process and those that it was forked from have forked.
inline uint32_t fork_count() {
  return process_end::forks.load(std::memory_order_relaxed);
}

// Marks that this thread is inside of the SDK, where it may hold locks. Nests.
class CallMark {
 public:
  CallMark() : record_(epoch::this_thread ? epoch::this_thread : epoch::register_thread()) {
    record_->calls.store(record_->calls.load(std::memory_order_relaxed) + 1,
                         std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // see wait_for_calls
    if (process_end::stopped.load(std::memory_order_relaxed) != 0) [[unlikely]]
      process_end::wait_to_begin();
  }
  ~CallMark() {
    record_->calls.store(record_->calls.load(std::memory_order_relaxed) - 1,
                         std::memory_order_release);
  }
  CallMark(const CallMark&) = delete;
  CallMark& operator=(const CallMark&) = delete;

  // A lock may be held for ever by a thread that this process lacks.
  static bool locks_are_lost() {
    return (process_end::stopped.load(std::memory_order_relaxed) & process_end::forked_in_a_call) !=
           0;
  }

 private:
  epoch::ThreadRecord* record_;
};

// What every call from outside has around it: the mark, and the default floating-point environment.
class CallScope {
 public:
  CallScope() {
    if (CallMark::locks_are_lost()) [[unlikely]]
      process_end::require_whole_process();
  }

 private:
  CallMark mark_;
  DefaultFloatingPoint floating_point_;
};

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_SUPPORT_PROCESS_END_H_
