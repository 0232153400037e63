// Copies between memory of any strides, by as few launches as these allow.
#ifndef PRIMSET_BACKENDS_CUDA_KERNELS_STRIDED_COPY_H_
#define PRIMSET_BACKENDS_CUDA_KERNELS_STRIDED_COPY_H_

#include <primset/plugin.h>

#include <cstdint>
#include <vector>

#include "backends/cuda/kernels/matrix_kernels.h"

namespace primset_cuda {

// Element by element; strides count elements.
struct StridedCopy {
  std::vector<int64_t> sizes, to_strides, from_strides;
  int64_t word_bytes = 4;  // 2: an element is a half

  static StridedCopy from_tensor(const primset_tensor& t, std::vector<int64_t> to_strides);
  static StridedCopy to_tensor(const primset_tensor& t, std::vector<int64_t> from_strides);
  // Of row-major memory without gaps.
  static std::vector<int64_t> dense_strides(const primset_tensor& t);

  // Without dims of one element, neighbours that lie alike on both sides made one.
  StridedCopy merged() const;
  // Once merged: whether it copies bytes as they lie.
  bool is_dense() const;
  // What a copy takes; find refuses what takes too many.
  int64_t launches() const;
};

inline constexpr int64_t kMostCopyLaunches = 64;

// `words` are an element's; the sign of word `negated` of each element is turned.
void copy_strided(const MatrixKernels& kernels, primset_stream_t& stream, const StridedCopy& copy,
                  DevicePointer to, DevicePointer from, int64_t words, int64_t negated = -1);

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_KERNELS_STRIDED_COPY_H_
