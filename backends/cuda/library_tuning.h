// From which sizes on a library is the faster way. Below, a generated kernel takes as long, and is
// fused with what surrounds it. To be measured: the defaults are estimates.
#ifndef PRIMSET_BACKENDS_CUDA_LIBRARY_TUNING_H_
#define PRIMSET_BACKENDS_CUDA_LIBRARY_TUNING_H_

#include <cstdint>
#include <string_view>

namespace primset_cuda {

struct LibraryTuning {
  // Points of one transform, of all its dims. A generated kernel keeps up to 3072 in a workgroup's
  // memory and so reads and writes each once, as the library does.
  int64_t fft_points = 4096;
  // Of real values: generated kernels go by way of complex ones and a second kernel.
  int64_t fft_real_points = 1024;
  // Where a length has other factors than 2, 3, 5 and 7, for which there are no generated kernels.
  int64_t fft_rough_points = 128;
  // Elements of all matrices of a call. Generated factorizations take steps for each row, one after
  // another, whose launches alone take longer than the library from a matrix of about 32 x 32 on,
  // or from as many small ones. The host makes other plans for smaller calls.
  int64_t linalg_elements = 1024;
  // Up to which order many matrices are given to the library's functions for batches. Larger ones
  // fill the device one by one.
  int64_t linalg_batched_most = 512;
  // How many matrices are computed one after another where there is no function for a batch.
  int64_t linalg_most_calls = 256;
  // Up to which order singular values are computed by rotations: beyond, reduction to two diagonals
  // has less to do.
  int64_t svd_rotations_most = 2048;
};

// PRIMSET_CUDA_TUNING, "fft.points=1024,linalg.elements=4096", over the defaults. Throws
// BackendError that says what is wrong and which names there are.
LibraryTuning parse_library_tuning(std::string_view text);

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_LIBRARY_TUNING_H_
