#include "sdk/runtime/support/process_end.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>
#include <unwind.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "primset/error.h"

namespace primset::runtime {
namespace process_end {
namespace {

constexpr auto kLongestWait = std::chrono::seconds(2);
std::atomic<pthread_t> exiting_thread{}, forking_thread{};

// A call either sees the reason to wait, or is seen here: the flag is set first, and every thread
// passes a barrier between its mark and its look at the flag (membarrier where there is one, else
// the time that passes until the records are read again).
void wait_for_calls(Stop reason, std::atomic<pthread_t>& thread) {
  thread = pthread_self();
  stopped |= reason;
  const BlockedSignals scope;  // a sleep that is interrupted all the time never ends
  constexpr auto kPause = std::chrono::microseconds(200);
  if (!epoch::make_threads_pass_a_barrier()) std::this_thread::sleep_for(kPause);
  const auto end = std::chrono::steady_clock::now() + kLongestWait;
  while (epoch::others_are_calling() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(kPause);
}

// One fork at a time: its own handlers set the state that all calls look at.
std::mutex& fork_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

void before_fork() {
  fork_mutex().lock();
  wait_for_calls(forking, forking_thread);
  epoch::lock_records();
}

void go_on() {
  epoch::unlock_records();
  stopped &= ~uint32_t{forking};
  stopped.notify_all();
  fork_mutex().unlock();
}

// The other threads' records still say what these were doing.
void begin_child() {
  forks.fetch_add(1, std::memory_order_relaxed);
  if (epoch::forget_other_threads()) stopped |= forked_in_a_call;
  go_on();
}

// What a handler of exit() knows from when it was registered, in the one word that it is handed:
// memory for it would be lost, as handlers are called once and never removed.
static_assert(sizeof(void*) >= sizeof(uint64_t));
void* expected(uint32_t forks, bool has_threads) {
  return reinterpret_cast<void*>(uintptr_t{forks} << 1 | uintptr_t{has_threads});
}

// The C library's own: a sanitizer's, or a program's entry in its linkage table, is another
// address.
void* address_of_exit() {
  static void* const address = [] {
    void* libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    return libc ? dlsym(libc, "exit") : nullptr;
  }();
  return address;
}

// A thread's variables also end with the thread alone; only the stack tells.
bool exit_is_on_the_stack() {
  bool found = false;
  const auto look = [](_Unwind_Context* frame, void* found) {
    void* const function =
        _Unwind_FindEnclosingFunction(reinterpret_cast<void*>(_Unwind_GetIP(frame)));
    if (!function || function != address_of_exit()) return _URC_NO_REASON;
    *static_cast<bool*>(found) = true;
    return _URC_END_OF_STACK;
  };
  _Unwind_Backtrace(look, &found);
  return found;
}

void begin_exit() {
  if ((stopped & exiting) == 0) wait_for_calls(exiting, exiting_thread);
}

void before_the_libraries_end(int status, void* data) {
  const auto word = reinterpret_cast<uintptr_t>(data);
  if (word >> 1 == fork_count()) {
    begin_exit();
  } else if ((word & 1) != 0) {
    std::fflush(nullptr);
    _exit(status);
  }
}

}  // namespace

void wait_to_begin() {
  epoch::ThreadRecord& mine = *epoch::this_thread;
  const auto is = [](const std::atomic<pthread_t>& thread) {
    return pthread_equal(thread.load(), pthread_self()) != 0;
  };
  for (uint32_t now; ((now = stopped) & (exiting | forking)) != 0;) {
    if ((now & exiting) != 0) {
      if (is(exiting_thread)) return;
      mine.calls = 0;
      for (;;) pause();
    }
    // A call within a call: the fork waits for the outer one.
    if (is(forking_thread) || mine.calls > 1) return;
    mine.calls = 0;
    stopped.wait(now);
    mine.calls = 1;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
}

void require_whole_process() {
  throw Error(
      ErrorCode::runtime,
      "this process was forked while another thread was inside of a call that took longer "
      "than two seconds; nothing can be computed in the child: fork between calls, or start "
      "the child by exec (multiprocessing's spawn)");
}

void this_thread_ends() {
  if (exit_is_on_the_stack()) begin_exit();
}

void watch_forks() {
  static const int watched = pthread_atfork(before_fork, go_on, begin_child);
  static_cast<void>(watched);
}

}  // namespace process_end

void expect_exit(bool has_threads) {
  // One more handler where a driver came after the last.
  on_exit(process_end::before_the_libraries_end, process_end::expected(fork_count(), has_threads));
}

}  // namespace primset::runtime
