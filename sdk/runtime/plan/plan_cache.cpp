#include "sdk/runtime/plan/plan_cache.h"

#include "sdk/runtime/plan/key.h"
#include "sdk/runtime/plan/plan.h"

namespace primset::runtime {

PlanEntry::~PlanEntry() {
  for (Node* n = first.load(); n;) delete std::exchange(n, n->next);
}

void PlanEntry::add(std::unique_ptr<const Plan> plan) {
  auto* node = new Node{std::move(plan), first.load(std::memory_order_relaxed)};
  first.store(node, std::memory_order_release);
}

PlanCache::~PlanCache() = default;

PlanEntry* PlanCache::find_in(const Table& table, const CallKey& key) {
  const size_t mask = table.slots.size() - 1;
  for (size_t i = key.hash & mask;; i = (i + 1) & mask) {
    PlanEntry* entry = table.slots[i].load(std::memory_order_acquire);
    if (!entry) return nullptr;
    if (entry->hash == key.hash && key.equal(entry->words)) return entry;
  }
}

PlanEntry* PlanCache::find(const CallKey& key) const {
  const Table* table = table_.load(std::memory_order_acquire);
  return table ? find_in(*table, key) : nullptr;
}

void PlanCache::insert(Table& table, PlanEntry* entry) {
  const size_t mask = table.slots.size() - 1;
  size_t i = entry->hash & mask;
  while (table.slots[i].load(std::memory_order_relaxed)) i = (i + 1) & mask;
  table.slots[i].store(entry, std::memory_order_release);
}

PlanEntry& PlanCache::find_or_add(const CallKey& key) {
  std::lock_guard lock(mutex_);
  if (PlanEntry* known = find(key)) return *known;
  auto entry = std::make_unique<PlanEntry>();
  entry->hash = key.hash;
  entry->words.assign(key.words.begin(), key.words.end());
  Table* table = table_.load(std::memory_order_relaxed);
  if (!table || (entries_.size() + 1) * 2 > table->slots.size()) {
    tables_.push_back(std::make_unique<Table>(table ? table->slots.size() * 2 : 16));
    table = tables_.back().get();
    for (auto& e : entries_) insert(*table, e.get());
    table_.store(table, std::memory_order_release);
  }
  entries_.push_back(std::move(entry));
  insert(*table, entries_.back().get());
  size_.store(entries_.size(), std::memory_order_relaxed);
  return *entries_.back();
}

}  // namespace primset::runtime
