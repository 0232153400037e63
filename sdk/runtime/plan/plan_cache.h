// The plans of one operator: key -> list of (guards, plan). Looking up takes no lock; entries are
// never removed. What is missing is made outside any lock that lookups take; of several threads
// that miss the same key one makes the plan and the others wait for it.
#ifndef PRIMSET_SDK_RUNTIME_PLAN_PLAN_CACHE_H_
#define PRIMSET_SDK_RUNTIME_PLAN_PLAN_CACHE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace primset::runtime {

struct CallKey;
struct Plan;

// The plans of one key, newest first.
struct PlanEntry {
  struct Node {
    std::unique_ptr<const Plan> plan;
    Node* next;
  };
  uint64_t hash = 0;
  std::vector<uint64_t> words;
  std::atomic<Node*> first{nullptr};
  std::mutex making;  // held while a plan is made for this key

  ~PlanEntry();
  void add(std::unique_ptr<const Plan> plan);
};

class PlanCache {
 public:
  PlanCache() = default;
  ~PlanCache();
  PlanCache(const PlanCache&) = delete;
  PlanCache& operator=(const PlanCache&) = delete;

  // Null when the key is new.
  PlanEntry* find(const CallKey& key) const;
  PlanEntry& find_or_add(const CallKey& key);
  size_t size() const { return size_.load(std::memory_order_relaxed); }

 private:
  // Open addressing over a power of two of slots, at most half full. A full table is replaced; old
  // ones stay until the end, since a reader may be in one (they add up to less than the newest).
  struct Table {
    explicit Table(size_t capacity) : slots(capacity) {}
    std::vector<std::atomic<PlanEntry*>> slots;
  };
  static PlanEntry* find_in(const Table& table, const CallKey& key);
  static void insert(Table& table, PlanEntry* entry);

  std::atomic<Table*> table_{nullptr};
  std::atomic<size_t> size_{0};
  std::mutex mutex_;  // writers
  std::vector<std::unique_ptr<Table>> tables_;
  std::vector<std::unique_ptr<PlanEntry>> entries_;
};

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_PLAN_PLAN_CACHE_H_
