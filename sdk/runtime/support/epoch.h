// Safe memory reclamation for structures that are read without a lock.
//
// Epochs protect a traversal: a reader publishes the epoch in which it entered; a writer unlinks an
// object, which ends an epoch, and frees the object when all readers inside entered in a later
// epoch, so that none can have reached it. A hazard pointer protects one object after the
// traversal, for as long as a thread uses it. Neither needs an atomic read-modify-write.
//
// Readers load, and writers store, the links to what may be retired with std::memory_order_seq_cst:
// then either the reader sees that the object is unlinked, or the writer sees the reader.
#ifndef PRIMSET_SDK_RUNTIME_SUPPORT_EPOCH_H_
#define PRIMSET_SDK_RUNTIME_SUPPORT_EPOCH_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace primset::runtime {

namespace epoch {

// A thread's place. A cache line of its own, so that readers do not disturb one another.
struct alignas(64) ThreadRecord {
  std::atomic<uint64_t> inside{0};  // 0: outside
  std::array<std::atomic<const void*>, 4> hazards{};
  std::atomic<bool> in_use{true};
  std::atomic<uint32_t> calls{0};  // how deep the thread is in calls (process_end.h)
};

inline constinit std::atomic<uint64_t> current{1};
// Writers make every thread pass a barrier (membarrier(2)), so that readers need none.
inline constinit std::atomic<bool> readers_need_no_fence{false};
// Read in every call. A pointer fits what glibc reserves for such variables of libraries that are
// loaded later, and then reading it calls no function.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local ThreadRecord* this_thread =
    nullptr;
// Readers and calls of all threads see what was written before, or are seen. False: there is no
// such barrier here, and only time makes it so.
bool make_threads_pass_a_barrier();
// Another thread than this one is in a call.
bool others_are_calling();
// Around fork(): no thread registers meanwhile; the child, where the records are
// locked still, forgets the threads that it lacks.
void lock_records();
void unlock_records();
// True: one was in a call.
bool forget_other_threads();
// Makes this thread's record, or takes that of a thread that has ended.
ThreadRecord* register_thread();

}  // namespace epoch

// A read-side critical section. Those of one thread do not nest.
class EpochReader {
 public:
  EpochReader() : record_(epoch::this_thread ? epoch::this_thread : epoch::register_thread()) {
    const uint64_t now = epoch::current.load(std::memory_order_seq_cst);
    if (epoch::readers_need_no_fence.load(std::memory_order_relaxed)) [[likely]] {
      record_->inside.store(now, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);  // the compiler keeps the order
    } else {
      record_->inside.store(now, std::memory_order_seq_cst);
    }
  }
  ~EpochReader() { record_->inside.store(0, std::memory_order_release); }
  EpochReader(const EpochReader&) = delete;
  EpochReader& operator=(const EpochReader&) = delete;

  epoch::ThreadRecord& record() const { return *record_; }

 private:
  epoch::ThreadRecord* record_;
};

// Keeps one object from being freed. Created inside an epoch; destroyed by the same thread.
class HazardPointer {
 public:
  HazardPointer() = default;
  // Empty when the thread has no hazard slot left.
  HazardPointer(const EpochReader& reader, const void* object) {
    for (auto& hazard : reader.record().hazards) {
      if (hazard.load(std::memory_order_relaxed)) continue;
      hazard.store(object, std::memory_order_release);
      place_ = &hazard;
      return;
    }
  }
  HazardPointer(HazardPointer&& o) noexcept : place_(std::exchange(o.place_, nullptr)) {}
  HazardPointer& operator=(HazardPointer&& o) noexcept {
    reset();
    place_ = std::exchange(o.place_, nullptr);
    return *this;
  }
  ~HazardPointer() { reset(); }

  explicit operator bool() const { return place_ != nullptr; }
  void reset() {
    if (place_) std::exchange(place_, nullptr)->store(nullptr, std::memory_order_release);
  }

 private:
  std::atomic<const void*>* place_ = nullptr;
};

// Unlinked objects that readers may still access. Used under its owner's lock.
class RetireList {
 public:
  using Object = std::shared_ptr<const void>;

  // `hazard`: what hazard pointers to the object hold; null where there are none.
  void retire(Object object, const void* hazard = nullptr) {
    unlinked_.push_back({std::move(object), hazard, 0});
  }
  // Removes and returns the objects that no reader can access any more. The caller destroys them
  // while it holds no lock, since destructors may take locks.
  std::vector<Object> take_unreachable();

 private:
  struct Retired {
    Object object;
    const void* hazard;
    uint64_t epoch;  // the one that ended when it had been unlinked
  };
  std::vector<Retired> unlinked_;  // since the last epoch ended
  std::vector<Retired> retired_;
};

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_SUPPORT_EPOCH_H_
