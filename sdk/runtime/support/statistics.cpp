#include "sdk/runtime/support/statistics.h"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace primset {
namespace runtime {
namespace {

struct Blocks {
  std::mutex mutex;
  std::vector<std::unique_ptr<CounterBlock>> all;
  std::array<uint64_t, kCounters> base{};  // what reset_statistics() saw
  std::map<std::string, uint64_t> fallbacks;
};
Blocks& blocks() {
  static Blocks* instance = new Blocks;  // outlives every thread
  return *instance;
}

// Gives the block to the next new thread when this one ends; its counts stay.
struct BlockUse {
  CounterBlock* block = nullptr;
  BlockUse() {
    std::lock_guard lock(blocks().mutex);
    for (auto& b : blocks().all) {
      if (!b->in_use.exchange(true)) {
        block = b.get();
        return;
      }
    }
    blocks().all.push_back(std::make_unique<CounterBlock>());
    block = blocks().all.back().get();
  }
  ~BlockUse() { block->in_use = false; }
};

std::array<uint64_t, kCounters> totals(Blocks& b) {
  std::array<uint64_t, kCounters> sum{};
  for (auto& block : b.all) {
    for (size_t i = 0; i < kCounters; ++i) sum[i] += block->values[i].load();
  }
  return sum;
}

}  // namespace

CounterBlock& counters() {
  thread_local BlockUse use;
  return *use.block;
}

void count_fallback(std::string_view op) {
  std::lock_guard lock(blocks().mutex);
  ++blocks().fallbacks[std::string(op)];
}

}  // namespace runtime

Statistics statistics() {
  using runtime::Counter;
  runtime::Blocks& b = runtime::blocks();
  std::lock_guard lock(b.mutex);
  const auto now = runtime::totals(b);
  auto get = [&](Counter c) {
    return now[static_cast<size_t>(c)] - b.base[static_cast<size_t>(c)];
  };
  Statistics s;
  s.calls = get(Counter::calls);
  s.plans = get(Counter::plans);
  s.guard_misses = get(Counter::guard_misses);
  s.kernels_compiled = get(Counter::kernels_compiled);
  s.kernel_memory_hits = get(Counter::kernel_memory_hits);
  s.kernel_disk_hits = get(Counter::kernel_disk_hits);
  s.kernel_pack_hits = get(Counter::kernel_pack_hits);
  s.kernel_disk_rejects = get(Counter::kernel_disk_rejects);
  s.launches = get(Counter::launches);
  s.native_calls = get(Counter::native_calls);
  s.copies = get(Counter::copies);
  s.host_reads = get(Counter::host_reads);
  s.plans_cached = now[static_cast<size_t>(Counter::plans_cached)];
  s.plans_evicted = get(Counter::plans_evicted);
  s.kernels_cached = now[static_cast<size_t>(Counter::kernels_cached)];
  s.kernels_evicted = get(Counter::kernels_evicted);
  s.replays = get(Counter::replays);
  s.fallbacks = b.fallbacks;
  return s;
}

void reset_statistics() {
  runtime::Blocks& b = runtime::blocks();
  std::lock_guard lock(b.mutex);
  b.base = runtime::totals(b);
  b.fallbacks.clear();
}

}  // namespace primset
