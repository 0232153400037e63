#include "sdk/runtime/support/process_end.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <semaphore>
#include <thread>

#include "primset/error.h"

namespace primset::runtime {
namespace {

// Ends a child without a sanitizer's look at the parent's threads, which it lacks.
[[noreturn]] void leave(int code) {
  syscall(SYS_exit_group, code);
  __builtin_unreachable();
}

int ending_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// The exit code of a child that makes one call: 0 taken, 1 refused with a text that says why.
int child_that_calls() {
  const pid_t child = fork();
  if (child == 0) {
    try {
      const CallScope scope;
      leave(0);
    } catch (const Error& e) {
      leave(std::string(e.what()).find("forked while another thread") == std::string::npos ? 2 : 1);
    }
  }
  return ending_of(child);
}

// A thread inside of a call, until it is told to leave.
class Caller {
 public:
  Caller()
      : thread_([this] {
          const CallScope scope;
          inside_.release();
          leave_.acquire();
        }) {
    inside_.acquire();
  }
  ~Caller() { thread_.join(); }
  void leave() { leave_.release(); }

 private:
  std::binary_semaphore inside_{0}, leave_{0};
  std::thread thread_;
};

TEST(Fork, WaitsForTheCallsOfOtherThreads) {
  Caller caller;
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    caller.leave();
  });
  EXPECT_EQ(child_that_calls(), 0);
  later.join();
}

TEST(Fork, InsideOfALongCallLeavesAChildThatRefusesToCompute) {
  Caller caller;
  EXPECT_EQ(child_that_calls(), 1);
  caller.leave();
  const CallScope scope;  // the parent goes on
}

TEST(Fork, FromWithinACallDoesNotWaitForItself) {
  const CallScope scope;
  EXPECT_EQ(child_that_calls(), 0);
}

TEST(Fork, CallsThatBeginMeanwhileGoOnAfterwards) {
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> calls{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      while (!stop) {
        const CallScope outer;
        const CallScope inner;
        ++calls;
      }
    });
  for (int i = 0; i < 20; ++i) EXPECT_EQ(child_that_calls(), 0);
  const uint64_t before = calls;
  while (calls < before + 100) std::this_thread::yield();
  stop = true;
  for (std::thread& t : threads) t.join();
}

// A handler as of a static object that a library makes during a call: it runs before all older
// ones.
std::atomic<bool> call_has_ended{false};

int child_that_exits_during_a_call() {
  const pid_t child = fork();
  if (child == 0) {
    {
      const CallScope the_exiting_thread_has_called;
    }
    expect_exit(false);
    auto* caller = new Caller;
    std::thread([caller] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      call_has_ended = true;
      caller->leave();
    }).detach();
    std::atexit([] { leave(call_has_ended ? 0 : 1); });
    exit(2);
  }
  return ending_of(child);
}

TEST(Exit, WaitsForCallsBeforeTheHandlersOfLibrariesThatCameLater) {
  EXPECT_EQ(child_that_exits_during_a_call(), 0);
}

TEST(Exit, IsNotTheEndOfAThread) {
  std::thread([] { const CallScope scope; }).join();
  EXPECT_EQ(process_end::stopped, 0u);
}

}  // namespace
}  // namespace primset::runtime
