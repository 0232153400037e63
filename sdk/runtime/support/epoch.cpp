#include "sdk/runtime/support/epoch.h"

#include <algorithm>
#include <iterator>
#include <mutex>

namespace primset::runtime {
namespace {

struct ThreadRecords {
  std::mutex mutex;
  std::vector<std::unique_ptr<epoch::ThreadRecord>> all;
};
// Never destroyed: threads may end after every static object.
ThreadRecords& thread_records() {
  static ThreadRecords* instance = new ThreadRecords;
  return *instance;
}

// Gives the record to the next new thread when this one ends.
struct RecordLease {
  epoch::ThreadRecord* record = nullptr;
  ~RecordLease() {
    epoch::this_thread = nullptr;
    if (record) record->in_use.store(false, std::memory_order_release);
  }
};

epoch::ThreadRecord* find_or_make_record() {
  ThreadRecords& records = thread_records();
  std::lock_guard lock(records.mutex);
  for (auto& r : records.all) {
    if (!r->in_use.exchange(true, std::memory_order_acquire)) return r.get();
  }
  records.all.push_back(std::make_unique<epoch::ThreadRecord>());
  return records.all.back().get();
}

// The earliest epoch that a reader entered in; UINT64_MAX when none is inside.
uint64_t earliest_inside() {
  ThreadRecords& records = thread_records();
  std::lock_guard lock(records.mutex);
  uint64_t earliest = UINT64_MAX;
  for (auto& r : records.all) {
    if (const uint64_t entered = r->inside.load(std::memory_order_seq_cst))
      earliest = std::min(earliest, entered);
  }
  return earliest;
}

}  // namespace

epoch::ThreadRecord* epoch::register_thread() {
  thread_local RecordLease lease;
  if (!lease.record) lease.record = find_or_make_record();
  return this_thread = lease.record;
}

std::vector<RetireList::Object> RetireList::take_unreachable() {
  std::vector<Object> unreachable;
  if (!unlinked_.empty())
    retired_.push_back({epoch::current.fetch_add(1), std::exchange(unlinked_, {})});
  if (retired_.empty()) return unreachable;
  const uint64_t earliest = earliest_inside();
  const auto end =
      std::ranges::find_if(retired_, [&](const Retired& r) { return r.epoch >= earliest; });
  for (auto it = retired_.begin(); it != end; ++it)
    std::ranges::move(it->objects, std::back_inserter(unreachable));
  retired_.erase(retired_.begin(), end);
  return unreachable;
}

}  // namespace primset::runtime
