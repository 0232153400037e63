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

// What a handler of exit() knows from when it was registered, in the one word that it is handed:
// memory for it would be lost, as handlers are called once and never removed.
static_assert(sizeof(void*) >= sizeof(uint64_t));
void* expected(uint32_t forks, bool has_threads) {
  return reinterpret_cast<void*>(uintptr_t{forks} << 1 | uintptr_t{has_threads});
}

void before_the_libraries_end(int status, void* data) {
  const auto word = reinterpret_cast<uintptr_t>(data);
  if (word >> 1 == fork_count()) {
    if (!exiting) wait_for_calls();
  } else if ((word & 1) != 0) {
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
  // One more handler where a driver came after the last.
  on_exit(process_end::before_the_libraries_end, process_end::expected(fork_count(), has_threads));
}

}  // namespace primset::runtime
