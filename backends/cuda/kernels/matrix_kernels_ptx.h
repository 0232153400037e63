// The text of the kernels of matrix_kernels.h.
#ifndef PRIMSET_BACKENDS_CUDA_KERNELS_MATRIX_KERNELS_PTX_H_
#define PRIMSET_BACKENDS_CUDA_KERNELS_MATRIX_KERNELS_PTX_H_

#include <string>

namespace primset_cuda {

inline constexpr unsigned kMatrixKernelThreads = 256;

// One module of PTX for every device since sm_70.
std::string matrix_kernels_ptx();

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_KERNELS_MATRIX_KERNELS_PTX_H_
