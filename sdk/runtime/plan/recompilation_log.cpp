#include "sdk/runtime/plan/recompilation_log.h"

#include <primset/statistics.h>

#include <atomic>
#include <mutex>
#include <utility>

namespace primset::runtime {
namespace {

std::atomic<bool> enabled{false};
std::mutex mutex;
std::vector<Recompilation> recompilations;

}  // namespace

void enable_recompilation_log() {
  enabled.store(true, std::memory_order_relaxed);
}

bool recompilation_log_enabled() {
  return enabled.load(std::memory_order_relaxed);
}

void record_recompilation(Recompilation made) {
  std::lock_guard lock(mutex);
  recompilations.push_back(std::move(made));
}

std::vector<Recompilation> take_recompilations() {
  std::lock_guard lock(mutex);
  return std::exchange(recompilations, {});
}

uint64_t kernels_loaded() {
  const Statistics s = statistics();
  return s.kernels_compiled + s.kernel_disk_hits + s.kernel_pack_hits;
}

}  // namespace primset::runtime
