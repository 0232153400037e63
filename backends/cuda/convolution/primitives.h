// Native primitives: convolutions and their gradients by cuDNN.
#ifndef PRIMSET_BACKENDS_CUDA_CONVOLUTION_PRIMITIVES_H_
#define PRIMSET_BACKENDS_CUDA_CONVOLUTION_PRIMITIVES_H_

#include <primset/plugin.h>

namespace primset_cuda {

// Whether the library computes the call, and how.
bool find_convolution(primset_device_t& device, const char* name,
                      const primset_primitive_call& call, primset_primitive* out);

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_CONVOLUTION_PRIMITIVES_H_
