// Attention as a graph of cuDNN's operations.
#ifndef PRIMSET_BACKENDS_CUDA_ATTENTION_ATTENTION_GRAPH_H_
#define PRIMSET_BACKENDS_CUDA_ATTENTION_ATTENTION_GRAPH_H_

#include <cstdint>
#include <vector>

#include "backends/cuda/attention/attention_shape.h"
#include "backends/cuda/libraries/cudnn_graph.h"

namespace primset_cuda {

// What a plan's run is given, by these ids: tensors in the device's memory, and numbers in the
// host's.
enum AttentionTensor : int64_t {
  kAttentionQ = 1,
  kAttentionK,
  kAttentionV,
  kAttentionY,
  kAttentionLogsumexp,
  kAttentionScale,
  kAttentionHidden,  // what a score is that takes no part: -inf. Of causal attention
  kAttentionVirtual  // the first of what is in no memory
};

// y = softmax(scale * q k^T) v, where query i sees no key behind i when it is causal, and the
// logarithms of what the softmax divides by. In f32, but for the operands' type that the softmax is
// rounded to. Throws CudnnRefusal.
std::vector<CudnnDescriptor> attention_operations(const CudnnApi& api, const AttentionShape& shape);

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_ATTENTION_ATTENTION_GRAPH_H_
