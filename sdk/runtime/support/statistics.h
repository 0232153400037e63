// Counters behind primset::statistics(). Each thread counts in a block of its own, so that counting
// a call costs one increment and no cache line moves between cores.
#ifndef PRIMSET_SDK_RUNTIME_SUPPORT_STATISTICS_H_
#define PRIMSET_SDK_RUNTIME_SUPPORT_STATISTICS_H_

#include <primset/statistics.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

namespace primset::runtime {

enum class Counter : uint8_t {
  calls,
  plans,
  guard_misses,
  kernels_compiled,
  kernel_memory_hits,
  kernel_disk_hits,
  kernel_pack_hits,
  kernel_disk_rejects,
  launches,
  native_calls,
  copies,
  host_reads,
  replays,
  plans_evicted,
  kernels_evicted,
  // Current numbers: counted up and down, modulo 2^64; not reset.
  plans_cached,
  kernels_cached,
};
inline constexpr size_t kCounters = 17;

struct CounterBlock {
  std::array<std::atomic<uint64_t>, kCounters> values{};
  std::atomic<bool> in_use{true};
};

// This thread's block.
CounterBlock& counters();

inline void count(Counter c, uint64_t n = 1) {
  auto& value = counters().values[static_cast<size_t>(c)];
  value.store(value.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

void count_fallback(std::string_view op);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_SUPPORT_STATISTICS_H_
