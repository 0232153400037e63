// What the native primitives of linear algebra share: matrices of a call as they lie in memory, and
// loops over them on the pool.
#ifndef PRIMSET_BACKENDS_CPU_LINALG_SUPPORT_H_
#define PRIMSET_BACKENDS_CPU_LINALG_SUPPORT_H_

#include <primset/plugin.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <new>
#include <string_view>
#include <vector>

#include "backends/common/blocked_signals.h"
#include "backends/common/call_attributes.h"
#include "backends/common/contraction.h"
#include "backends/common/status.h"
#include "backends/cpu/linalg/blas_api.h"
#include "backends/cpu/linalg/column_major.h"
#include "backends/cpu/objects.h"

namespace primset_cpu {

using primset_backend::flag;

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

  int64_t count() const { return static_cast<int64_t>(offsets.size()); }
  const T* first_of(int64_t b) const { return data + offsets[static_cast<size_t>(b)]; }
  T at(int64_t b, int64_t i, int64_t j) const {
    return first_of(b)[i * row_stride + j * column_stride];
  }
};

// Element i of vector b at data[offsets[b] + i stride].
template <typename T>
struct StridedVectors {
  const T* data;
  std::vector<int64_t> offsets;
  int64_t size = 0, stride = 0;

  explicit StridedVectors(const primset_tensor& t) : data(data_at<const T>(t)) {
    primset_backend::Dims batch;
    for (uint32_t d = 0; d + 1 < t.rank; ++d) batch.push_back(d);
    offsets = primset_backend::offsets_of(t, batch);
    size = t.sizes[t.rank - 1], stride = t.strides[t.rank - 1];
  }

  std::vector<T> vector(int64_t b) const {
    std::vector<T> out;
    for (int64_t i = 0; i < size; ++i)
      out.push_back(data[offsets[static_cast<size_t>(b)] + i * stride]);
    return out;
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

// Whether all numbers are finite, and if not, whether one is NaN. LAPACK's searches and iterations
// are for finite ones.
enum class Contents : uint8_t { finite, infinite, nan };
template <typename T>
Contents contents_of(const T* data, int64_t count) {
  const auto* parts = reinterpret_cast<const Part<T>*>(data);
  const int64_t all = kIsComplex<T> ? 2 * count : count;
  Part<T> nothing = 0;
  for (int64_t i = 0; i < all; ++i) nothing += parts[i] * 0;
  if (nothing == 0) return Contents::finite;
  return std::any_of(parts, parts + all, [](Part<T> x) { return x != x; }) ? Contents::nan
                                                                           : Contents::infinite;
}

template <typename T>
void copy_from(const StridedMatrices<T>& a, int64_t b, const ColumnMajor<T>& to) {
  copy_columns(
      a.rows, 0, a.columns, [&](int64_t i, int64_t j) { return a.at(b, i, j); },
      [&](int64_t i, int64_t j) -> T& { return to.column(j)[i]; });
}

template <typename T>
void copy_by_rows(const ColumnMajor<T>& from, T* to) {
  copy_columns(
      from.rows, 0, from.columns, [&](int64_t i, int64_t j) { return from.column(j)[i]; },
      [&](int64_t i, int64_t j) -> T& { return to[i * from.columns + j]; });
}

// What a query of LAPACK's says, which is rounded to the element type.
template <typename T>
int64_t size_from(T answer) {
  Part<T> size;
  if constexpr (kIsComplex<T>)
    size = answer.re;
  else
    size = answer;
  const auto exact = static_cast<double>(size);
  return std::max<int64_t>(1, static_cast<int64_t>(std::ceil(exact * (1 + 0x1p-22))));
}

// LAPACK counts in 32 bits; the calls that are taken fit (primitives.cpp).
inline int as_int(int64_t x) {
  return static_cast<int>(x);
}

// Elements of which some nanoseconds each are done before other threads are awake.
inline constexpr int64_t kFewElements = 1 << 12;

// f(first, end) for parts of [0, count), on the pool's threads, with signals blocked; of few
// elements, where their number is given, on the caller.
template <typename F>
void in_parallel(ThreadPool& pool, int64_t count, const F& f,
                 int64_t elements = std::numeric_limits<int64_t>::max()) {
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
  if (elements <= kFewElements)
    entry(&params, 0, n, n);
  else
    pool.run({entry, &params, 0, n, n});
  if (context.no_memory.load(std::memory_order_relaxed)) throw std::bad_alloc();
}

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_LINALG_SUPPORT_H_
