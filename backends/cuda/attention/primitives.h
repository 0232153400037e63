// Native primitives: attention by cuDNN.
#ifndef PRIMSET_BACKENDS_CUDA_ATTENTION_PRIMITIVES_H_
#define PRIMSET_BACKENDS_CUDA_ATTENTION_PRIMITIVES_H_

#include <primset/plugin.h>

namespace primset_cuda {

// Whether the library computes the call, and how.
bool find_attention(primset_device_t& device, const char* name, const primset_primitive_call& call,
                    primset_primitive* out);

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_ATTENTION_PRIMITIVES_H_
