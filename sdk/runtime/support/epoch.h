// Safe memory reclamation for structures that are read without a lock.
//
// Epochs protect the walk: a reader says in which epoch it is inside; a writer unlinks an object,
// which ends an epoch, and frees it when every reader inside entered in a later one: none of those
// can have met it. A hazard pointer protects one object for longer, after the walk, however long a
// thread uses it. Neither takes an atomic read-modify-write.
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
};

inline constinit std::atomic<uint64_t> current{1};
// Writers make every thread pass a barrier (membarrier(2)), so that readers need none.
inline constinit std::atomic<bool> readers_need_no_fence{false};
inline constinit thread_local ThreadRecord* this_thread = nullptr;
// Makes this thread's record, or takes that of a thread that has ended.
ThreadRecord* register_thread();

}  // namespace epoch

// A reader's time inside. Sections of one thread do not nest.
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

// Keeps one object from being freed. Made inside an epoch by the thread that gives it up.
class HazardPointer {
 public:
  HazardPointer() = default;
  // Empty when the thread has no place left.
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

// Unlinked objects that readers may still look at. Used under its owner's lock.
class RetireList {
 public:
  using Object = std::shared_ptr<const void>;

  // `hazard`: what hazard pointers to the object hold; null where there are none.
  void retire(Object object, const void* hazard = nullptr) {
    unlinked_.push_back({std::move(object), hazard, 0});
  }
  // Takes out what no reader can see any more. The caller drops it when it holds no lock: to free
  // an object may take others.
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
