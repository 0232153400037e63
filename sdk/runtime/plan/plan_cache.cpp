#include "sdk/runtime/plan/plan_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sdk/runtime/device/device_state.h"
#include "sdk/runtime/plan/key.h"
#include "sdk/runtime/plan/plan.h"
#include "sdk/runtime/plan/recompilation_log.h"
#include "sdk/runtime/support/options.h"
#include "sdk/runtime/support/statistics.h"

namespace primset::runtime {
namespace {

bool admits(const Plan& plan, const CallKey& key, Slots& slots) {
  slots.resize_uninitialized(plan.code.slots);
  std::copy(key.symbol_values.begin(), key.symbol_values.end(), slots.begin());
  return plan.admits(slots.data());
}

}  // namespace

PlanCache::Entry::~Entry() {
  for (Node* n = first.load(); n;) delete std::exchange(n, n->next.load());
}

PlanCache::~PlanCache() {
  count(Counter::plans_cached, -size_);
}

// --- lookups -------------------------------------------------------------------------------------

PlanCache::Entry* PlanCache::find_in(const Table& table, const CallKey& key) {
  const size_t mask = table.slots.size() - 1;
  for (size_t i = key.hash & mask;; i = (i + 1) & mask) {
    Entry* entry = table.slots[i].load(std::memory_order_acquire);
    if (!entry) return nullptr;
    if (entry->hash == key.hash && key.equal(entry->words)) return entry;
  }
}

PlanRef PlanCache::admitted(const EpochReader& reader, const Entry& entry, const CallKey& key,
                            Slots& slots) const {
  for (Node* n = entry.first.load(); n; n = n->next.load()) {
    if (!admits(*n->plan, key, slots)) continue;
    const uint64_t now = clock_.load(std::memory_order_relaxed);
    if (n->last_use.load(std::memory_order_relaxed) != now)
      n->last_use.store(now, std::memory_order_relaxed);
    return PlanRef(reader, n->plan);
  }
  return {};
}

PlanRef PlanCache::find(const CallKey& key, Slots& slots) const {
  const EpochReader reader;
  const Table* table = table_.load();
  const Entry* entry = table ? find_in(*table, key) : nullptr;
  return entry ? admitted(reader, *entry, key, slots) : PlanRef();
}

// --- new plans -----------------------------------------------------------------------------------

// What keeps the call from taking each of the plans that there are.
std::vector<std::string> PlanCache::broken_guards(const Entry& entry, const CallKey& key) const {
  const EpochReader reader;
  std::vector<std::string> out;
  Slots slots;
  for (const Node* n = entry.first.load(); n; n = n->next.load()) {
    admits(*n->plan, key, slots);
    out.push_back(n->plan->broken_guard(slots.data()));
  }
  return out;
}

PlanPtr PlanCache::make_logged(const Entry& entry, const CallKey& key, const Maker& maker) const {
  if (!recompilation_log_enabled()) return maker.make();
  Recompilation made{maker.name, broken_guards(entry, key)};
  const uint64_t before = kernels_loaded();
  PlanPtr plan = maker.make();
  made.kernels = kernels_loaded() - before;
  record_recompilation(std::move(made));
  return plan;
}

PlanRef PlanCache::make(const CallKey& key, Slots& slots, const Maker& maker) {
  const std::shared_ptr<Entry> entry = find_or_add(key);
  std::lock_guard making(entry->making);
  {
    const EpochReader reader;
    if (PlanRef other = admitted(reader, *entry, key, slots)) return other;  // made meanwhile
    if (entry->first.load()) count(Counter::guard_misses);
  }
  PlanPtr plan = make_logged(*entry, key, maker);
  if (!admits(*plan, key, slots))
    throw Error(ErrorCode::internal,
                fmt::format("{}: a new plan does not admit the call it was made for: {}",
                            maker.name, plan->broken_guard(slots.data())));
  add(*entry, plan);
  maker.device.trim_kernels();
  return PlanRef(std::move(plan));
}

void PlanCache::add(Entry& entry, PlanPtr plan) {
  std::vector<RetireList::Object> unreachable;  // freed without the lock
  const std::lock_guard lock(mutex_);
  const uint64_t now = clock_.fetch_add(1) + 1;
  entry.first.store(new Node{std::move(plan), now, entry.first.load()});
  ++size_;
  count(Counter::plans_cached);
  if (const size_t limit = max_plans(); size_ > limit) evict(limit);
  unreachable = retired_.take_unreachable();
}

// --- the table -----------------------------------------------------------------------------------

void PlanCache::insert(Table& table, Entry* entry) {
  const size_t mask = table.slots.size() - 1;
  size_t i = entry->hash & mask;
  while (table.slots[i].load(std::memory_order_relaxed)) i = (i + 1) & mask;
  table.slots[i].store(entry, std::memory_order_release);
}

void PlanCache::rebuild_table() {
  const size_t capacity = std::bit_ceil(std::max<size_t>(16, entries_.size() * 4));
  auto table = std::make_shared<Table>(capacity);
  for (auto& e : entries_) insert(*table, e.get());
  table_.store(table.get());
  if (newest_table_) retired_.retire(std::move(newest_table_));
  newest_table_ = std::move(table);
}

std::shared_ptr<PlanCache::Entry> PlanCache::find_or_add(const CallKey& key) {
  const std::lock_guard lock(mutex_);
  if (newest_table_) {
    if (Entry* known = find_in(*newest_table_, key)) return known->shared_from_this();
  }
  // Calls that fail leave empty entries.
  if (entries_.size() > size_ + max_plans()) remove_empty_entries();
  auto entry = std::make_shared<Entry>();
  entry->hash = key.hash;
  entry->words.assign(key.words.begin(), key.words.end());
  entries_.push_back(entry);
  if (!newest_table_ || entries_.size() * 2 > newest_table_->slots.size())
    rebuild_table();
  else
    insert(*newest_table_, entry.get());
  return entry;
}

// --- eviction ------------------------------------------------------------------------------------

void PlanCache::unlink_unused(Entry& entry, uint64_t clock, size_t& ties) {
  std::atomic<Node*>* link = &entry.first;
  while (Node* node = link->load()) {
    const uint64_t last_use = node->last_use.load(std::memory_order_relaxed);
    if (last_use > clock || (last_use == clock && ties == 0)) {
      link = &node->next;
      continue;
    }
    if (last_use == clock) --ties;
    // The node keeps its own link: a reader that stands on it goes on from there.
    link->store(node->next.load());
    retired_.retire(std::shared_ptr<const Node>(node), node->plan.get());
    --size_;
  }
}

// Drops a sixteenth more than it must, so that one search pays for many insertions.
void PlanCache::evict(size_t limit) {
  std::vector<uint64_t> uses;
  for (auto& e : entries_) {
    for (const Node* n = e->first.load(); n; n = n->next.load())
      uses.push_back(n->last_use.load(std::memory_order_relaxed));
  }
  const size_t drop = std::min(size_ - limit + limit / 16, size_ - 1);
  std::ranges::nth_element(uses, uses.begin() + static_cast<std::ptrdiff_t>(drop));
  const uint64_t clock = uses[drop];
  size_t ties = drop - static_cast<size_t>(
                           std::ranges::count_if(uses, [&](uint64_t u) { return u < clock; }));
  const size_t before = size_;
  for (auto& e : entries_) unlink_unused(*e, clock, ties);
  count(Counter::plans_cached, size_ - before);
  count(Counter::plans_evicted, before - size_);
  remove_empty_entries();
}

// But for those that a plan is being made for.
void PlanCache::remove_empty_entries() {
  const auto stays = [](const std::shared_ptr<Entry>& e) {
    return e->first.load() || e.use_count() > 1;
  };
  const auto end = std::partition(entries_.begin(), entries_.end(), stays);
  for (auto it = end; it != entries_.end(); ++it) retired_.retire(std::move(*it));
  entries_.erase(end, entries_.end());
  rebuild_table();
}

}  // namespace primset::runtime
