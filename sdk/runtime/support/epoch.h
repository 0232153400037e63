// Epoch-based reclamation, for structures that are read without a lock. A reader says in which
// epoch it is inside; a writer unlinks an object, which ends an epoch, and frees the object when
// every reader inside entered in a later one: none of those can have met it.
//
// Readers load, and writers store, the links to what may be retired with std::memory_order_seq_cst:
// then either the reader sees that the object is unlinked, or the writer sees the reader.
#ifndef PRIMSET_SDK_RUNTIME_SUPPORT_EPOCH_H_
#define PRIMSET_SDK_RUNTIME_SUPPORT_EPOCH_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace primset::runtime {

namespace epoch {

// A thread's place; 0: outside. A cache line each, so that readers do not disturb one another.
struct alignas(64) ThreadRecord {
  std::atomic<uint64_t> inside{0};
  std::atomic<bool> in_use{true};
};

inline constinit std::atomic<uint64_t> current{1};
inline constinit thread_local ThreadRecord* this_thread = nullptr;
// Makes this thread's record, or takes that of a thread that has ended.
ThreadRecord* register_thread();

}  // namespace epoch

// A reader's time inside. Sections of one thread do not nest.
class EpochReader {
 public:
  EpochReader() : record_(epoch::this_thread ? epoch::this_thread : epoch::register_thread()) {
    record_->inside.store(epoch::current.load(std::memory_order_seq_cst),
                          std::memory_order_seq_cst);
  }
  ~EpochReader() { record_->inside.store(0, std::memory_order_release); }
  EpochReader(const EpochReader&) = delete;
  EpochReader& operator=(const EpochReader&) = delete;

 private:
  epoch::ThreadRecord* record_;
};

// Unlinked objects that readers may still look at. Used under its owner's lock.
class RetireList {
 public:
  using Object = std::shared_ptr<const void>;

  void retire(Object object) { unlinked_.push_back(std::move(object)); }
  // Takes out what no reader can see any more. The caller drops it when it holds no lock: to free
  // an object may take others.
  std::vector<Object> take_unreachable();

 private:
  struct Retired {
    uint64_t epoch;  // the one that ended when it had been unlinked
    std::vector<Object> objects;
  };
  std::vector<Object> unlinked_;  // since the last epoch ended
  std::vector<Retired> retired_;  // by epoch
};

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_SUPPORT_EPOCH_H_
