// Copies of matrices that lie by columns to rows.
#ifndef PRIMSET_BACKENDS_CPU_TRANSPOSED_COPY_H_
#define PRIMSET_BACKENDS_CPU_TRANSPOSED_COPY_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "backends/cpu/vector_code.h"

namespace primset_cpu {

inline constexpr int64_t kTransposedSide = 8;

// A block of 8 x 8 whose columns are contiguous: interleaving the columns of either half three
// times makes rows of them.
template <typename T>
PRIMSET_INLINE void transpose_block(const T* from, int64_t col_stride, T* to, int64_t row_stride) {
  using Lanes __attribute__((vector_size(kTransposedSide * sizeof(T)))) = T;
  Lanes lines[kTransposedSide], mixed[kTransposedSide];
  for (int64_t j = 0; j < kTransposedSide; ++j)
    std::memcpy(&lines[j], from + j * col_stride, sizeof(Lanes));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < kTransposedSide / 2; ++i) {
      const Lanes a = lines[i], b = lines[i + kTransposedSide / 2];
      mixed[2 * i] = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
      mixed[2 * i + 1] = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
    }
    std::copy_n(mixed, kTransposedSide, lines);
  }
  for (int64_t i = 0; i < kTransposedSide; ++i)
    std::memcpy(to + i * row_stride, &lines[i], sizeof(Lanes));
}

// Block by block, down the columns: these are read from end to end, and the lines of many more
// could all be in one set of the cache.
template <typename T>
struct CopyToRows {
  PRIMSET_INLINE void operator()(const T* from, int64_t rows, int64_t cols, int64_t row_stride,
                                 int64_t col_stride, T* to) const {
    for (int64_t col = 0; col < cols; col += kTransposedSide) {
      const int64_t width = std::min(kTransposedSide, cols - col);
      for (int64_t row = 0; row < rows; row += kTransposedSide) {
        const int64_t height = std::min(kTransposedSide, rows - row);
        const T* const corner = from + row * row_stride + col * col_stride;
        T* const target = to + row * cols + col;
        if (row_stride == 1 && width == kTransposedSide && height == kTransposedSide) {
          transpose_block(corner, col_stride, target, cols);
          continue;
        }
        for (int64_t i = 0; i < height; ++i)
          for (int64_t j = 0; j < width; ++j)
            target[i * cols + j] = corner[i * row_stride + j * col_stride];
      }
    }
  }
};

// To rows without gaps.
template <typename T>
void copy_to_rows(const T* from, int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride,
                  T* to) {
  vector_code(CopyToRows<T>(), from, rows, cols, row_stride, col_stride, to);
}

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_TRANSPOSED_COPY_H_
