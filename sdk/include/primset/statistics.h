// Counters of the runtime since the process started, or since reset_statistics().
#ifndef PRIMSET_STATISTICS_H_
#define PRIMSET_STATISTICS_H_

#include <primset/device.h>
#include <primset/export.h>

#include <cstdint>
#include <map>
#include <string>

namespace primset {

struct Statistics {
  uint64_t calls = 0;             // operators called
  uint64_t plans = 0;             // plans made
  uint64_t guard_misses = 0;      // known key, but no plan whose guards held
  uint64_t kernels_compiled = 0;  // by an emitter
  uint64_t kernel_memory_hits = 0;
  uint64_t kernel_disk_hits = 0;
  uint64_t kernel_pack_hits = 0;     // compiled ahead of time: `primset pack`
  uint64_t kernel_disk_rejects = 0;  // corrupt or truncated files, rebuilt
  uint64_t launches = 0;
  uint64_t native_calls = 0;
  uint64_t copies = 0;      // device-to-device copies made by plans
  uint64_t host_reads = 0;  // counts and conditions read back in the middle of a call
  // The current sizes of the caches, which are not reset, and evictions (Options::max_plans and
  // max_kernels).
  uint64_t plans_cached = 0, plans_evicted = 0;
  uint64_t kernels_cached = 0, kernels_evicted = 0;
  uint64_t replays = 0;  // runs that were replayed from a recording of the device
  std::map<std::string, uint64_t> fallbacks;  // by operator: calls that the CPU ran instead
};
PRIMSET_API Statistics statistics();
PRIMSET_API void reset_statistics();

struct MemoryStatistics {
  uint64_t allocated = 0;  // bytes in live storages, rounded to size classes
  uint64_t reserved = 0;   // bytes taken from the plugin
  uint64_t peak_allocated = 0;
  uint64_t peak_reserved = 0;
  uint64_t allocations = 0;  // storages made
  uint64_t plugin_allocations = 0;
  uint64_t retries = 0;  // allocations repeated after an out-of-memory error and freeing the cache
};
PRIMSET_API MemoryStatistics memory_statistics(Device device);
// Gives memory that no tensor uses back to the plugin, after waiting for the device.
PRIMSET_API void empty_cache(Device device);

}  // namespace primset

#endif  // PRIMSET_STATISTICS_H_
