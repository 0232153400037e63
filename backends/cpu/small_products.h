// Products of many small matrices, for which a call of a library takes longer than the product.
#ifndef PRIMSET_BACKENDS_CPU_SMALL_PRODUCTS_H_
#define PRIMSET_BACKENDS_CPU_SMALL_PRODUCTS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "backends/cpu/bf16.h"
#include "backends/cpu/contraction.h"
#include "backends/cpu/vector_code.h"

namespace primset_cpu {

// Computes products [first, end) of a contraction of f32 or, as uint16_t, of bf16. Four rows of a
// times a vector of columns of b stay in registers; b is copied to rows of whole vectors first, and
// of long sums every kPart terms are added up by themselves.
template <typename T>
class SmallProducts {
 public:
  explicit SmallProducts(const Contraction& x)
      : x_(x),
        padded_((x.n + kLanes - 1) / kLanes * kLanes),
        a_(static_cast<size_t>((x.m + kRows - 1) / kRows * kRows * x.k)),
        b_(static_cast<size_t>(x.k * padded_)) {}

  void run(uint64_t first, uint64_t end) {
    vector_code(
        [](SmallProducts* s, uint64_t i, uint64_t stop) PRIMSET_INLINE_LAMBDA {
          for (; i < stop; ++i) s->product(i);
        },
        this, first, end);
  }

 private:
  static constexpr int64_t kLanes = 16, kRows = 4, kPart = 64;

  PRIMSET_INLINE void copy(const MatrixBatch& from, uint64_t index, int64_t rows, int64_t cols,
                           int64_t row_stride, float* to) {
    const T* const data = reinterpret_cast<const T*>(from.data) + from.offsets[index];
    for (int64_t i = 0; i < rows; ++i) {
      const T* const row = data + i * from.rows;
      float* const target = to + i * row_stride;
      if (from.cols == 1)
        for (int64_t j = 0; j < cols; ++j) target[j] = float_of(row[j]);
      else
        for (int64_t j = 0; j < cols; ++j) target[j] = float_of(row[j * from.cols]);
    }
  }

  PRIMSET_INLINE void product(uint64_t index) {
    copy(x_.a, index, x_.m, x_.k, x_.k, a_.data());
    copy(x_.b, index, x_.k, x_.n, padded_, b_.data());
    float* const c = reinterpret_cast<float*>(x_.c) + static_cast<int64_t>(index) * x_.m * x_.n;
    for (int64_t i = 0; i < x_.m; i += kRows)
      for (int64_t j = 0; j < x_.n; j += kLanes)
        tile(&a_[static_cast<size_t>(i * x_.k)], &b_[static_cast<size_t>(j)], c + i * x_.n + j,
             std::min(kRows, x_.m - i), std::min(kLanes, x_.n - j));
  }

  PRIMSET_INLINE void tile(const float* a, const float* b, float* c, int64_t rows, int64_t cols) {
    float sums[kRows][kLanes] = {};
    for (int64_t from = 0; from < x_.k; from += kPart) {
      float part[kRows][kLanes] = {};
      const int64_t end = std::min(from + kPart, x_.k);
      for (int64_t k = from; k < end; ++k)
        for (int64_t r = 0; r < kRows; ++r)
          for (int64_t l = 0; l < kLanes; ++l) part[r][l] += a[r * x_.k + k] * b[k * padded_ + l];
      for (int64_t r = 0; r < kRows; ++r)
        for (int64_t l = 0; l < kLanes; ++l) sums[r][l] += part[r][l];
    }
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t l = 0; l < cols; ++l) c[r * x_.n + l] = sums[r][l];
  }

  const Contraction& x_;
  int64_t padded_;            // columns of b, as whole vectors
  std::vector<float> a_, b_;  // whole vectors of columns and fours of rows
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_SMALL_PRODUCTS_H_
