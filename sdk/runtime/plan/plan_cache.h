// The plan cache: key -> list of (guards, plan). A device has one for its eager calls, a captured
// graph one of its own (docs/decisions/plan_cache.md).
//
// Lookups take no lock (support/epoch.h). A missing plan is made outside any lock that lookups
// take; of several threads that miss the same key one makes the plan and the others wait. Beyond
// Options::max_plans the least recently used plans are evicted; a plan that is being run lives
// until the run ends. Thread safe.
#ifndef PRIMSET_SDK_RUNTIME_PLAN_PLAN_CACHE_H_
#define PRIMSET_SDK_RUNTIME_PLAN_PLAN_CACHE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sdk/base/small_vector.h"
#include "sdk/runtime/plan/plan_ref.h"
#include "sdk/runtime/support/epoch.h"

namespace primset::runtime {

struct CallKey;
class DeviceState;

// Room for a plan's numbers (RunInputs::slots).
using Slots = SmallVector<int64_t, 256>;

class PlanCache {
 public:
  PlanCache() = default;
  ~PlanCache();
  PlanCache(const PlanCache&) = delete;
  PlanCache& operator=(const PlanCache&) = delete;

  // The plan of the key whose guards the key's numbers satisfy, with `slots` as Plan::admits()
  // leaves them; empty when there is none.
  PlanRef find(const CallKey& key, Slots& slots) const;

  // How a missing plan is made, and its name in messages.
  struct Maker {
    DeviceState& device;
    std::string name;
    std::function<std::unique_ptr<const Plan>()> make;
  };
  // After find() has found none: the plan that another thread has made meanwhile, or a new one.
  PlanRef make(const CallKey& key, Slots& slots, const Maker& maker);

 private:
  struct Node {
    PlanPtr plan;
    std::atomic<uint64_t> last_use;
    std::atomic<Node*> next;
  };
  // The plans of one key, newest first.
  struct Entry : std::enable_shared_from_this<Entry> {
    uint64_t hash = 0;
    std::vector<uint64_t> words;
    std::atomic<Node*> first{nullptr};
    std::mutex making;  // held while a plan is made for this key

    ~Entry();
  };
  // Open addressing over a power of two of slots, at most half full. Slots are only ever filled;
  // to remove entries, the table is replaced.
  struct Table {
    explicit Table(size_t capacity) : slots(capacity) {}
    std::vector<std::atomic<Entry*>> slots;
  };

  static Entry* find_in(const Table& table, const CallKey& key);
  static void insert(Table& table, Entry* entry);
  PlanRef admitted(const EpochReader& reader, const Entry& entry, const CallKey& key,
                   Slots& slots) const;
  std::vector<std::string> broken_guards(const Entry& entry, const CallKey& key) const;
  PlanPtr make_logged(const Entry& entry, const CallKey& key, const Maker& maker) const;

  // Under mutex_:
  std::shared_ptr<Entry> find_or_add(const CallKey& key);
  void rebuild_table();
  void evict(size_t limit);
  void remove_empty_entries();
  // Unlinks plans last used before `clock`, and `ties` of those last used at it.
  void unlink_unused(Entry& entry, uint64_t clock, size_t& ties);

  void add(Entry& entry, PlanPtr plan);

  std::atomic<const Table*> table_{nullptr};
  // The number of plans made. A plan's last use is recorded in this unit, so that of the hits
  // between two misses only the first one writes.
  std::atomic<uint64_t> clock_{1};
  mutable std::mutex mutex_;
  std::shared_ptr<Table> newest_table_;  // table_'s owner
  std::vector<std::shared_ptr<Entry>> entries_;
  size_t size_ = 0;  // plans
  RetireList retired_;
};

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_PLAN_PLAN_CACHE_H_
