#include "sdk/runtime/plan/plan_watch.h"

#include <primset/statistics.h>

#include <atomic>
#include <mutex>
#include <utility>

namespace primset::runtime {
namespace {

std::atomic<bool> watched{false};
std::mutex mutex;
std::vector<PlanMade> made_plans;

}  // namespace

void watch_plans() {
  watched.store(true, std::memory_order_relaxed);
}

bool plans_watched() {
  return watched.load(std::memory_order_relaxed);
}

void record_plan(PlanMade made) {
  std::lock_guard lock(mutex);
  made_plans.push_back(std::move(made));
}

std::vector<PlanMade> take_plans_made() {
  std::lock_guard lock(mutex);
  return std::exchange(made_plans, {});
}

uint64_t kernels_made() {
  const Statistics s = statistics();
  return s.kernels_compiled + s.kernel_disk_hits;
}

}  // namespace primset::runtime
