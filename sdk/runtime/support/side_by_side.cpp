#include "sdk/runtime/support/side_by_side.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

#include "sdk/runtime/support/host_state.h"

namespace primset::runtime {
namespace {

// Those that the system does not start are done without.
std::vector<std::jthread> start(size_t count, const std::function<void()>& run) {
  const BlockedSignals blocked;
  std::vector<std::jthread> threads;
  try {
    while (threads.size() < count) threads.emplace_back(run);
  } catch (const std::system_error&) {
  }
  return threads;
}

}  // namespace

void side_by_side(size_t count, const std::function<void(size_t)>& work) {
  std::vector<std::exception_ptr> thrown(count);
  std::atomic<size_t> next = 0;
  const auto run = [&] {
    for (size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        thrown[i] = std::current_exception();
      }
    }
  };
  const size_t cores = std::max(1u, std::thread::hardware_concurrency());
  {
    const auto others = start(std::min(count, cores) - (count > 0 ? 1 : 0), run);
    run();
  }
  for (const std::exception_ptr& e : thrown)
    if (e) std::rethrow_exception(e);
}

}  // namespace primset::runtime
