#include "sdk/runtime/support/process_end.h"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace primset::runtime {
namespace process_end {
namespace {

constexpr auto kLongestWait = std::chrono::seconds(2);
std::atomic<pthread_t> exiting_thread{};

// A call either sees that the process exits, or is seen here: the flag is set first, and every
// thread passes a barrier between its mark and its look at the flag (membarrier where there is one,
// else the time that passes until the records are read again).
void wait_for_calls() {
  exiting_thread = pthread_self();
  exiting = true;
  const BlockedSignals scope;  // a sleep that is interrupted all the time never ends
  constexpr auto kPause = std::chrono::microseconds(200);
  if (!epoch::make_threads_pass_a_barrier()) std::this_thread::sleep_for(kPause);
  const auto end = std::chrono::steady_clock::now() + kLongestWait;
  while (epoch::others_are_calling() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(kPause);
}

// What a handler of exit() knows from when it was registered.
struct Expected {
  uint32_t forks;
  bool has_threads;
};

void before_the_libraries_end(int status, void* data) {
  const auto* expected = static_cast<const Expected*>(data);
  if (expected->forks == fork_count()) {
    if (!exiting) wait_for_calls();
  } else if (expected->has_threads) {
    std::fflush(nullptr);
    _exit(status);
  }
}

}  // namespace

void wait_for_the_end() {
  if (pthread_equal(exiting_thread.load(), pthread_self())) return;
  epoch::this_thread->calls = 0;
  for (;;) pause();
}

}  // namespace process_end

void expect_exit(bool has_threads) {
  static const int counts = pthread_atfork(
      nullptr, nullptr, [] { process_end::forks.fetch_add(1, std::memory_order_relaxed); });
  static_cast<void>(counts);
  // Kept to the end. One more handler where a driver came after the last.
  on_exit(process_end::before_the_libraries_end,
          new process_end::Expected{fork_count(), has_threads});
}

}  // namespace primset::runtime
