#include "backends/cpu/thread_pool.h"

#include <pthread.h>

#include <algorithm>
#include <cfenv>
#include <chrono>
#include <cstdlib>
#include <exception>

#include "backends/common/blocked_signals.h"
#include "backends/cpu/cpu_info.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace primset_cpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kOpen = uint64_t{1} << 31;
constexpr uint64_t kJoined = kOpen - 1;
constexpr unsigned kMaxThreads = 1024;
// Chunks a range is cut into: small enough to even out cores of unequal speed.
constexpr uint64_t kChunksPerRange = 8;
// Looks at the epoch before a worker goes to sleep: some 10 to 20 microseconds.
constexpr int kSpins = 400;

// A forked child has the pool's memory but not its threads.
std::atomic<bool> g_forked{false};
const int g_fork_handler =
    pthread_atfork(nullptr, nullptr, [] { g_forked.store(true, std::memory_order_relaxed); });

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

float nanoseconds_since(Clock::time_point start) {
  return std::chrono::duration<float, std::nano>(Clock::now() - start).count();
}

}  // namespace

unsigned wanted_threads() {
  const char* text = std::getenv("PRIMSET_CPU_THREADS");
  const long wanted = text ? std::strtol(text, nullptr, 10) : 0;
  if (wanted < 1) return std::min(usable_cores(), kMaxThreads);
  return static_cast<unsigned>(std::min<long>(wanted, kMaxThreads));
}

ThreadPool::ThreadPool(unsigned threads)
    : size_(std::max(1u, threads)), ranges_(std::make_unique<Range[]>(size_)) {
  static_cast<void>(g_fork_handler);
  threads_.reserve(size_ - 1);
  start_threads();
}

// Where no more threads can be had, those that started do the work, with the caller. An error would
// end the process instead: of threads that run, the vector's end would be std::terminate.
void ThreadPool::start_threads() {
  const primset_backend::BlockedSignals inherited;
  try {
    for (unsigned i = 1; i < size_; ++i) threads_.emplace_back([this, i] { worker(i); });
  } catch (const std::exception&) {
    size_ = static_cast<unsigned>(threads_.size()) + 1;  // which workers do not read
  }
}

ThreadPool::~ThreadPool() {
  if (g_forked.load(std::memory_order_relaxed)) {
    for (std::thread& thread : threads_) thread.detach();  // they exist in the parent only
    return;
  }
  stop_.store(true, std::memory_order_relaxed);
  epoch_.fetch_add(1, std::memory_order_release);
  epoch_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

float ThreadPool::run(const Work& work) {
  const bool alone = size_ == 1 || g_forked.load(std::memory_order_relaxed) ||
                     work.end - work.first < 2 || !callers_.try_lock();
  if (alone) {
    const Clock::time_point start = Clock::now();
    work.entry(work.params, work.first, work.end, work.total);
    return nanoseconds_since(start) / static_cast<float>(work.end - work.first);
  }
  const std::lock_guard lock(callers_, std::adopt_lock);
  publish(work);
  const float nanoseconds = take_chunks(0, true);
  // Nobody joins from here on; those inside finish their chunks.
  state_.fetch_and(~kOpen, std::memory_order_acq_rel);
  for (int spins = 0; (state_.load(std::memory_order_acquire) & kJoined) != 0; ++spins) {
    if (spins < kSpins)
      pause();
    else
      std::this_thread::yield();
  }
  return nanoseconds;
}

void ThreadPool::publish(const Work& work) {
  const uint64_t groups = work.end - work.first;
  ranges_used_ = static_cast<unsigned>(std::min<uint64_t>(size_, groups));
  chunk_ = std::max<uint64_t>(1, groups / (ranges_used_ * kChunksPerRange));
  work_ = work;
  uint64_t first = work.first;
  for (unsigned i = 0; i < ranges_used_; ++i) {
    const uint64_t count = groups / ranges_used_ + (i < groups % ranges_used_ ? 1 : 0);
    ranges_[i].next.store(first, std::memory_order_relaxed);
    ranges_[i].end = first + count;
    first += count;
  }
  const uint32_t epoch = epoch_.load(std::memory_order_relaxed) + 1;
  state_.store(uint64_t{epoch} << 32 | kOpen, std::memory_order_release);
  epoch_.store(epoch, std::memory_order_release);
  if (ranges_used_ == size_) {
    epoch_.notify_all();
  } else {
    for (unsigned i = 1; i < ranges_used_; ++i) epoch_.notify_one();
  }
}

float ThreadPool::take_chunks(unsigned self, bool timed) {
  float nanoseconds = 0;
  for (unsigned i = 0; i < ranges_used_; ++i) {
    Range& range = ranges_[(self + i) % ranges_used_];
    for (;;) {
      const uint64_t first = range.next.fetch_add(chunk_, std::memory_order_relaxed);
      if (first >= range.end) break;
      const uint64_t end = std::min(first + chunk_, range.end);
      if (!timed) {
        work_.entry(work_.params, first, end, work_.total);
        continue;
      }
      const Clock::time_point start = Clock::now();
      work_.entry(work_.params, first, end, work_.total);
      nanoseconds = nanoseconds_since(start) / static_cast<float>(end - first);
      timed = false;
    }
  }
  return nanoseconds;
}

void ThreadPool::wait_for_epoch(uint32_t seen) {
  for (int spins = 0; spins < kSpins; ++spins) {
    if (epoch_.load(std::memory_order_acquire) != seen) return;
    pause();
  }
  epoch_.wait(seen, std::memory_order_acquire);
}

bool ThreadPool::join(uint32_t epoch) {
  uint64_t state = state_.load(std::memory_order_acquire);
  while ((state >> 32) == epoch && (state & kOpen) != 0)
    if (state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel)) return true;
  return false;
}

void ThreadPool::worker(unsigned index) {
  std::fesetenv(FE_DFL_ENV);  // and not that of whoever opened the device
  uint32_t seen = 0;
  for (;;) {
    wait_for_epoch(seen);
    if (stop_.load(std::memory_order_relaxed)) return;
    seen = epoch_.load(std::memory_order_acquire);
    if (!join(seen)) continue;
    take_chunks(index, false);
    state_.fetch_sub(1, std::memory_order_acq_rel);
  }
}

}  // namespace primset_cpu
