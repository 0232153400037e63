// Native primitives: products of matrices by cuBLASLt, Fourier transforms by cuFFT, linear algebra
// by cuSOLVER and cuBLAS.
#ifndef PRIMSET_BACKENDS_CUDA_PRIMITIVES_H_
#define PRIMSET_BACKENDS_CUDA_PRIMITIVES_H_

#include <primset/plugin.h>

namespace primset_cuda {

extern const primset_primitives kPrimitives;

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_PRIMITIVES_H_
