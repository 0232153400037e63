// The primitive sparse_matmul: rows of the result by tiles of columns, which stay in registers
// while a row's entries are gone through, and whose part of the dense matrix stays in the cache
// while the rows are.
#ifndef PRIMSET_BACKENDS_CPU_SPARSE_SPARSE_MATMUL_H_
#define PRIMSET_BACKENDS_CPU_SPARSE_SPARSE_MATMUL_H_

#include <memory>
#include <string_view>

#include "backends/cpu/linalg/blas_api.h"
#include "backends/cpu/sparse/sparse_rows.h"
#include "backends/cpu/vector_code.h"

namespace primset_cpu {

// What a row's products with a column are reduced to: Kernel::kStart combined with each of them.
struct SumOfProducts {
  template <typename T>
  static T start() {
    return T{};
  }
  template <typename T>
  static PRIMSET_INLINE T combine(T so_far, T x, T y) {
    return sum_with_product(so_far, x, y);
  }
};
template <int kSign>
struct ExtremumOfProducts {
  template <typename T>
  static T start() {
    return -kSign * std::numeric_limits<T>::infinity();
  }
  template <typename T>
  static PRIMSET_INLINE T combine(T so_far, T x, T y) {
    const T p = x * y;
    return (kSign > 0 ? p > so_far : p < so_far) || p != p ? p : so_far;
  }
};

// Rows [first, end) of `kWidth` columns.
template <typename T, typename Index>
struct RowTile {
  const SparseRows<T, Index>* a;
  int64_t size;  // of the dense matrix's columns
  const T* dense;
  int64_t dense_stride;
  T* y;
  int64_t y_stride;
  int64_t first, end;
};

template <typename Reduction, int kWidth, typename T, typename Index>
PRIMSET_INLINE void reduce_rows(const RowTile<T, Index>& t) {
  for (int64_t row = t.first; row < t.end; ++row) {
    T sums[kWidth];
    for (int w = 0; w < kWidth; ++w) sums[w] = Reduction::template start<T>();
    for (int64_t e = t.a->begin(row); e < t.a->end(row); ++e) {
      const T value = t.a->values[e];
      const T* from = t.dense + bounded(t.a->columns[e], t.size) * t.dense_stride;
      for (int w = 0; w < kWidth; ++w) sums[w] = Reduction::combine(sums[w], value, from[w]);
    }
    for (int w = 0; w < kWidth; ++w) t.y[row * t.y_stride + w] = sums[w];
  }
}

// A product of complex numbers is made of those with either part of the value: of a and b, each
// interleaved as the dense matrix is, the result is (a.re - b.im, a.im + b.re).
template <typename Reduction, int kWidth, typename Real, typename Index>
PRIMSET_INLINE void reduce_rows(const RowTile<Complex<Real>, Index>& t) {
  for (int64_t row = t.first; row < t.end; ++row) {
    Real by_re[2 * kWidth] = {}, by_im[2 * kWidth] = {};
    for (int64_t e = t.a->begin(row); e < t.a->end(row); ++e) {
      const Complex<Real> value = t.a->values[e];
      const auto* from = reinterpret_cast<const Real*>(t.dense + bounded(t.a->columns[e], t.size) *
                                                                     t.dense_stride);
      for (int w = 0; w < 2 * kWidth; ++w) by_re[w] += value.re * from[w];
      for (int w = 0; w < 2 * kWidth; ++w) by_im[w] += value.im * from[w];
    }
    for (int w = 0; w < kWidth; ++w)
      t.y[row * t.y_stride + w] = {by_re[2 * w] - by_im[2 * w + 1],
                                   by_re[2 * w + 1] + by_im[2 * w]};
  }
}

// One column: several sums at once, which are added up in the end, whatever the threads.
template <typename T, typename Index>
PRIMSET_INLINE void multiply_vector(const RowTile<T, Index>& t) {
  constexpr int kSums = 8;
  for (int64_t row = t.first; row < t.end; ++row) {
    T sums[kSums] = {};
    int64_t e = t.a->begin(row);
    const int64_t end = t.a->end(row);
    for (; e + kSums <= end; e += kSums) {
      for (int w = 0; w < kSums; ++w)
        sums[w] =
            SumOfProducts::combine(sums[w], t.a->values[e + w],
                                   t.dense[bounded(t.a->columns[e + w], t.size) * t.dense_stride]);
    }
    for (; e < end; ++e)
      sums[0] = SumOfProducts::combine(sums[0], t.a->values[e],
                                       t.dense[bounded(t.a->columns[e], t.size) * t.dense_stride]);
    for (int step = kSums / 2; step > 0; step /= 2)
      for (int w = 0; w < step; ++w) sums[w] = static_cast<T>(sums[w] + sums[w + step]);
    t.y[row * t.y_stride] = sums[0];
  }
}

template <typename T, typename Index>
class SparseMatmulCall {
 public:
  explicit SparseMatmulCall(const primset_primitive_call& call)
      : call_(call), dense_(call.operands[3]), y_(call.results[0]) {}

  void run(ThreadPool& pool) {
    SparseRows<T, Index> a = sparse_rows<T, Index>(call_, 0);
    const int64_t size = integer(call_, "size");
    const bool transpose = flag(call_, "transpose");
    rows_ = y_.sizes[0], columns_ = y_.rank == 2 ? y_.sizes[1] : 1;
    if (rows_ * columns_ == 0) return;
    size_ = dense_.sizes[0];
    if (size_ == 0 || a.columns.size() == 0) return set_zero(pool);
    const std::vector<T> copy = packed_dense();
    if (transpose) {
      const SparseRows<T, Index> t = transposed(a, size);
      reduce(pool, t);
    } else {
      reduce(pool, a);
    }
  }

 private:
  using Tile = RowTile<T, Index>;

  void set_zero(ThreadPool& pool) {
    T* const y = data_at<T>(y_);
    in_parallel(pool, rows_, [&](int64_t first, int64_t end) {
      std::fill(y + first * columns_, y + end * columns_, T{});
    });
  }

  // Rows of the dense matrix without gaps: as they are, or a copy.
  std::vector<T> packed_dense() {
    dense_data_ = data_at<const T>(dense_);
    dense_stride_ = dense_.strides[0];
    if (columns_ == 1 || dense_.strides[1] == 1) return {};
    std::vector<T> copy(static_cast<size_t>(size_ * columns_));
    copy_columns(
        size_, 0, columns_,
        [&](int64_t i, int64_t j) {
          return dense_data_[i * dense_stride_ + j * dense_.strides[1]];
        },
        [&](int64_t i, int64_t j) -> T& { return copy[static_cast<size_t>(i * columns_ + j)]; });
    dense_data_ = copy.data(), dense_stride_ = columns_;
    return copy;
  }

  void reduce(ThreadPool& pool, const SparseRows<T, Index>& a) {
    const std::string_view kind = text(call_, "reduce");
    if constexpr (std::is_floating_point_v<T>) {
      if (kind == "amax") return reduce_tiles<ExtremumOfProducts<1>>(pool, a, true);
      if (kind == "amin") return reduce_tiles<ExtremumOfProducts<-1>>(pool, a, true);
    }
    reduce_tiles<SumOfProducts>(pool, a, false);
    if (kind == "mean") divide_by_lengths(pool, a);
  }

  // Tiles of 256, 64 and 16 bytes, and columns one by one; each for shares of the rows.
  template <typename Reduction>
  void reduce_tiles(ThreadPool& pool, const SparseRows<T, Index>& a, bool empty_is_zero) {
    constexpr int kWide = std::max<int>(256 / sizeof(T), 1);
    const std::vector<int64_t> cuts = row_shares(a.pointers, share_count(a));
    const auto shares = static_cast<int64_t>(cuts.size()) - 1;
    std::vector<std::pair<int64_t, int>> tiles;  // first columns and widths
    for (int64_t c = 0; c < columns_;) {
      int width = kWide;
      while (width > columns_ - c) width = width > 1 ? std::max(width / 4, 1) : 1;
      tiles.emplace_back(c, width);
      c += width;
    }
    const auto count = static_cast<int64_t>(tiles.size());
    in_parallel(pool, count * shares, [&](int64_t first, int64_t end) {
      for (int64_t part = first; part < end; ++part) {
        const auto [column, width] = tiles[static_cast<size_t>(part / shares)];
        const auto share = static_cast<size_t>(part % shares);
        T* const y = data_at<T>(y_) + column;
        const Tile t{&a, size_,    dense_data_ + column, dense_stride_,
                     y,  columns_, cuts[share],          cuts[share + 1]};
        reduce_tile<Reduction, kWide>(t, width);
        if (empty_is_zero) clear_empty_rows(t, width);
      }
    });
  }

  template <typename Reduction, int kWidth>
  static void reduce_tile(const Tile& t, int width) {
    if (width != kWidth) {
      if constexpr (kWidth > 1) reduce_tile<Reduction, std::max(kWidth / 4, 1)>(t, width);
      return;
    }
    vector_code(
        [](const Tile& tile) PRIMSET_INLINE_LAMBDA {
          if constexpr (kWidth == 1 && std::is_same_v<Reduction, SumOfProducts> &&
                        std::is_arithmetic_v<T>)
            multiply_vector(tile);
          else
            reduce_rows<Reduction, kWidth>(tile);
        },
        t);
  }

  static void clear_empty_rows(const Tile& t, int width) {
    for (int64_t row = t.first; row < t.end; ++row) {
      if (t.a->begin(row) == t.a->end(row)) std::fill_n(t.y + row * t.y_stride, width, T{});
    }
  }

  void divide_by_lengths(ThreadPool& pool, const SparseRows<T, Index>& a) {
    if constexpr (std::is_floating_point_v<T>) {
      T* const y = data_at<T>(y_);
      in_parallel(pool, rows_, [&](int64_t first, int64_t end) {
        for (int64_t row = first; row < end; ++row) {
          const auto length = static_cast<T>(std::max<int64_t>(a.end(row) - a.begin(row), 1));
          for (int64_t c = 0; c < columns_; ++c) y[row * columns_ + c] /= length;
        }
      });
    }
  }

  // A share is worth some ten thousand multiplications.
  int64_t share_count(const SparseRows<T, Index>& a) const {
    const int64_t width = std::min<int64_t>(columns_, 64);
    return std::clamp<int64_t>(a.columns.size() * width / 32768, 1, std::min<int64_t>(rows_, 64));
  }

  const primset_primitive_call& call_;
  const primset_tensor& dense_;
  const primset_tensor& y_;
  const T* dense_data_ = nullptr;
  int64_t dense_stride_ = 0;
  int64_t rows_ = 0, columns_ = 0;  // of the result
  int64_t size_ = 0;                // the dense matrix's rows
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_SPARSE_SPARSE_MATMUL_H_
