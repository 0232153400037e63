// From which sizes on a library is the faster way. Below, a generated kernel takes as long, and is
// fused with what surrounds it. The defaults are where both took as long on an H100, CUDA 13.
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
  // To real values: the library destroys what it reads, and so it reads a copy.
  int64_t fft_from_half_points = 1 << 19;
  // Where a length has other factors than 2, 3, 5 and 7, for which there are no generated kernels.
  int64_t fft_rough_points = 128;
  // Multiplications of a convolution or of its gradients. Not measured: smaller ones take a few
  // microseconds either way.
  int64_t convolution_products = 1 << 22;
  // Multiplications of queries and keys. A call of the library takes the host 12 us, twice as long
  // as a generated kernel's launch.
  int64_t attention_products = 1 << 28;
  // Elements of all matrices of a call, below which the host makes plans of its own. Generated
  // factorizations take steps for each row, one after another, whose launches alone take longer
  // than the library from the smallest matrices on.
  int64_t linalg_elements = 1;
  // Up to which order many matrices are given to the library's functions for batches. Larger ones
  // fill the device one by one.
  int64_t linalg_batched_most = 512;
  // How many matrices are computed one after another where there is no function for a batch:
  // generated kernels take as long for 100 of 64 x 64 as for one.
  int64_t linalg_most_calls = 32;
  // Up to which order singular values are computed by rotations: beyond, reduction to two diagonals
  // has less to do.
  int64_t svd_rotations_most = 2048;
};

// PRIMSET_CUDA_TUNING, "fft.points=1024,linalg.elements=4096", over the defaults. Throws
// BackendError that says what is wrong and which names there are.
LibraryTuning parse_library_tuning(std::string_view text);

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_LIBRARY_TUNING_H_
