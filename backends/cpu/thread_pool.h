// Spreads the workgroups of one launch over the machine's cores.
//
// The groups are cut into one contiguous range a thread, so that each core tends to see the same
// memory from launch to launch; a thread that is done takes chunks of the others' ranges. The
// caller works too, and waits only for threads that have joined: one that wakes late costs nothing.
#ifndef PRIMSET_BACKENDS_CPU_THREAD_POOL_H_
#define PRIMSET_BACKENDS_CPU_THREAD_POOL_H_

#include <primset/plugin.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace primset_cpu {

// Workgroups [first, end) of a launch of `total`.
struct Work {
  primset_native_entry entry = nullptr;
  const void* params = nullptr;
  uint64_t first = 0, end = 0, total = 0;
};

class ThreadPool {
 public:
  // `threads` counts the caller: 1 makes no threads.
  explicit ThreadPool(unsigned threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  unsigned size() const { return size_; }
  // Runs all the work and returns; any thread may call. While another caller has the pool, the work
  // runs on the calling thread alone. Returns the nanoseconds that one group took, measured on the
  // caller's first chunk.
  float run(const Work& work);

 private:
  struct alignas(64) Range {
    std::atomic<uint64_t> next{0};
    uint64_t end = 0;
  };

  void start_threads();
  void worker(unsigned index);
  void wait_for_epoch(uint32_t seen);
  bool join(uint32_t epoch);
  void publish(const Work& work);
  // Takes chunks, its own range first; returns the nanoseconds a group of the first chunk.
  float take_chunks(unsigned self, bool timed);

  unsigned size_;
  std::mutex callers_;
  Work work_;
  uint64_t chunk_ = 1;
  unsigned ranges_used_ = 0;
  std::unique_ptr<Range[]> ranges_;

  // Counts launches; workers wait for it to change.
  alignas(64) std::atomic<uint32_t> epoch_{0};
  // epoch << 32 | kOpen | number of workers inside.
  alignas(64) std::atomic<uint64_t> state_{0};
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

// PRIMSET_CPU_THREADS, or as many as the process may use cores.
unsigned wanted_threads();

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_THREAD_POOL_H_
