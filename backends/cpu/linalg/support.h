// What the native primitives of linear algebra share: matrices of a call as they lie in memory, and
// loops over them on the pool.
#ifndef PRIMSET_BACKENDS_CPU_LINALG_SUPPORT_H_
#define PRIMSET_BACKENDS_CPU_LINALG_SUPPORT_H_

#include <primset/plugin.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>
#include <string_view>
#include <vector>

#include "backends/common/blocked_signals.h"
#include "backends/common/contraction.h"
#include "backends/common/status.h"
#include "backends/cpu/objects.h"

namespace primset_cpu {

// From this order on a matrix is factored by panels of columns, between which threads share the
// stripes of what is left. Sizes alone decide, so that the bits do not depend on the threads.
inline constexpr int64_t kLargeOrder = 192, kPanel = 64, kStripe = 96;

template <typename T>
T* data_at(const primset_tensor& t) {
  return t.buffer ? reinterpret_cast<T*>(t.buffer->address + t.offset) : nullptr;
}

// Element (i, j) of matrix b at data[offsets[b] + i rows + j columns].
template <typename T>
struct StridedMatrices {
  const T* data;
  std::vector<int64_t> offsets;
  int64_t rows = 1, columns = 1;  // sizes
  int64_t row_stride = 0, column_stride = 0;

  explicit StridedMatrices(const primset_tensor& t) : data(data_at<const T>(t)) {
    primset_backend::Dims batch;
    for (uint32_t d = 0; d + 2 < t.rank; ++d) batch.push_back(d);
    offsets = primset_backend::offsets_of(t, batch);
    rows = t.sizes[t.rank - 2], columns = t.sizes[t.rank - 1];
    row_stride = t.strides[t.rank - 2], column_stride = t.strides[t.rank - 1];
  }
};

// Copies the part of a matrix from column `first` to `end`, tile by tile: one side may go along its
// columns where the other goes along its rows.
template <typename From, typename To>
void copy_columns(int64_t rows, int64_t first, int64_t end, From&& from, To&& to) {
  constexpr int64_t kTile = 16;
  for (int64_t j0 = first; j0 < end; j0 += kTile) {
    for (int64_t i0 = 0; i0 < rows; i0 += kTile) {
      for (int64_t j = j0; j < std::min(j0 + kTile, end); ++j)
        for (int64_t i = i0; i < std::min(i0 + kTile, rows); ++i) to(i, j) = from(i, j);
    }
  }
}

// f(first, end) for parts of [0, count), on the pool's threads, with signals blocked.
template <typename F>
void in_parallel(ThreadPool& pool, int64_t count, const F& f) {
  struct Context {
    const F* f;
    std::atomic<bool> no_memory{false};
  } context{&f};
  const auto entry = [](const void* params, uint64_t first, uint64_t end, uint64_t) {
    auto* c = *static_cast<Context* const*>(params);
    const primset_backend::BlockedSignals scope;
    try {
      (*c->f)(static_cast<int64_t>(first), static_cast<int64_t>(end));
    } catch (const std::bad_alloc&) {  // a pool thread has nobody to throw to
      c->no_memory.store(true, std::memory_order_relaxed);
    }
  };
  if (count <= 0) return;
  Context* const params = &context;
  const auto n = static_cast<uint64_t>(count);
  pool.run({entry, &params, 0, n, n});
  if (context.no_memory.load(std::memory_order_relaxed)) throw std::bad_alloc();
}

inline bool flag(const primset_primitive_call& call, std::string_view name) {
  for (uint32_t i = 0; i < call.attr_count; ++i)
    if (call.attrs[i].name == name) return call.attrs[i].value.i != 0;
  return false;
}

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_LINALG_SUPPORT_H_
