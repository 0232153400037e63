// A convolution as a graph of cuDNN's operations.
#ifndef PRIMSET_BACKENDS_CUDA_CONVOLUTION_CONVOLUTION_GRAPH_H_
#define PRIMSET_BACKENDS_CUDA_CONVOLUTION_CONVOLUTION_GRAPH_H_

#include <cstdint>
#include <vector>

#include "backends/cuda/convolution/convolution_shape.h"
#include "backends/cuda/libraries/cudnn_graph.h"

namespace primset_cuda {

// The tensors that are in memory, as a plan's run names them.
enum ConvolutionTensor : int64_t { kTensorX = 1, kTensorW, kTensorY, kTensorBias };

// Of every tensor's address.
inline constexpr int64_t kConvolutionAlignment = 16;

// How the bias comes to the sums.
enum class BiasWay {
  none,
  fused,     // added before they are rounded and written
  laid_out,  // it lies at every place of the result before, and they are added to it
};

// Throws CudnnRefusal.
std::vector<CudnnDescriptor> convolution_operations(const CudnnApi& api,
                                                    const ConvolutionShape& shape, BiasWay bias);

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_CONVOLUTION_CONVOLUTION_GRAPH_H_
