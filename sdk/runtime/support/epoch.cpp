#include "sdk/runtime/support/epoch.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "sdk/runtime/support/process_end.h"

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
    process_end::this_thread_ends();
    epoch::this_thread = nullptr;
    // What other destructors of the thread may still look up gets another record.
    if (record) std::exchange(record, nullptr)->in_use.store(false, std::memory_order_release);
  }
};

bool membarrier(int command) {
  return syscall(SYS_membarrier, command, 0, 0) == 0;
}

// Kernels before 4.14 and some sandboxes have no such call; the thread sanitizer knows nothing of
// it.
bool register_membarrier() {
#if defined(__SANITIZE_THREAD__)
  return false;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
  return false;
#endif
#endif
  return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

epoch::ThreadRecord* find_or_make_record() {
  ThreadRecords& records = thread_records();
  std::lock_guard lock(records.mutex);
  if (records.all.empty()) {
    epoch::readers_need_no_fence = register_membarrier();
    process_end::watch_forks();
  }
  for (auto& r : records.all) {
    if (!r->in_use.exchange(true, std::memory_order_acquire)) return r.get();
  }
  records.all.push_back(std::make_unique<epoch::ThreadRecord>());
  return records.all.back().get();
}

// What readers are at: the earliest epoch that one entered in, and what hazard pointers hold.
struct Readers {
  uint64_t earliest = UINT64_MAX;
  std::unordered_set<const void*> hazards;
};

// A reader sets its hazard pointer before it leaves its epoch. So epochs are looked at first: of a
// reader that has left by then, the hazard pointer shows.
Readers look_at_readers() {
  Readers readers;
  ThreadRecords& records = thread_records();
  std::lock_guard lock(records.mutex);
  for (auto& r : records.all) {
    if (const uint64_t entered = r->inside.load(std::memory_order_seq_cst))
      readers.earliest = std::min(readers.earliest, entered);
  }
  for (auto& r : records.all) {
    for (auto& hazard : r->hazards) readers.hazards.insert(hazard.load(std::memory_order_seq_cst));
  }
  readers.hazards.erase(nullptr);
  return readers;
}

}  // namespace

epoch::ThreadRecord* epoch::register_thread() {
  thread_local RecordLease lease;
  if (!lease.record) lease.record = find_or_make_record();
  return this_thread = lease.record;
}

bool epoch::make_threads_pass_a_barrier() {
  return readers_need_no_fence && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

bool epoch::others_are_calling() {
  ThreadRecords& records = thread_records();
  std::lock_guard lock(records.mutex);
  return std::ranges::any_of(records.all, [](const std::unique_ptr<ThreadRecord>& r) {
    return r.get() != this_thread && r->in_use && r->calls.load(std::memory_order_acquire) != 0;
  });
}

void epoch::lock_records() {
  thread_records().mutex.lock();
}

void epoch::unlock_records() {
  thread_records().mutex.unlock();
}

bool epoch::forget_other_threads() {
  bool calling = false;
  for (auto& r : thread_records().all) {
    if (r.get() == this_thread || !r->in_use) continue;
    calling |= r->calls.exchange(0) != 0;
    r->inside = 0;
    for (auto& hazard : r->hazards) hazard = nullptr;
    r->in_use = false;
  }
  return calling;
}

std::vector<RetireList::Object> RetireList::take_unreachable() {
  std::vector<Object> unreachable;
  if (!unlinked_.empty()) {
    const uint64_t ended = epoch::current.fetch_add(1);
    for (Retired& r : unlinked_) {
      r.epoch = ended;
      retired_.push_back(std::move(r));
    }
    unlinked_.clear();
  }
  if (retired_.empty()) return unreachable;
  epoch::make_threads_pass_a_barrier();
  const Readers readers = look_at_readers();
  const auto end = std::partition(retired_.begin(), retired_.end(), [&](const Retired& r) {
    return r.epoch >= readers.earliest || readers.hazards.contains(r.hazard);
  });
  std::ranges::transform(end, retired_.end(), std::back_inserter(unreachable),
                         [](Retired& r) { return std::move(r.object); });
  retired_.erase(end, retired_.end());
  return unreachable;
}

}  // namespace primset::runtime
