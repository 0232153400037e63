// cuDNN on one device, and how it computes the convolutions asked for lately.
#ifndef PRIMSET_BACKENDS_CUDA_CONVOLUTION_CONVOLUTION_LIBRARY_H_
#define PRIMSET_BACKENDS_CUDA_CONVOLUTION_CONVOLUTION_LIBRARY_H_

#include <primset/plugin.h>

#include <memory>

#include "backends/common/plan_cache.h"
#include "backends/cuda/convolution/convolution_graph.h"
#include "backends/cuda/convolution/convolution_shape.h"
#include "backends/cuda/convolution/dense_tensors.h"
#include "backends/cuda/libraries/cudnn_graph.h"

namespace primset_cuda {

// A convolution's graph, and the engine chosen for it.
class ConvolutionPlan {
 public:
  // Null when the library has no code that fits. Throws BackendError for any other failure.
  static std::shared_ptr<const ConvolutionPlan> make(std::shared_ptr<const CudnnHandle> dnn,
                                                     const ConvolutionShape& shape);
  ConvolutionPlan(std::shared_ptr<const CudnnHandle> dnn, const ConvolutionShape& shape,
                  CudnnPlan plan, BiasWay bias)
      : dnn_(std::move(dnn)), shape_(shape), plan_(std::move(plan)), bias_(bias) {}

  uint64_t workspace_bytes() const { return plan_.workspace_bytes(); }
  int64_t engine() const { return plan_.engine(); }
  // Enqueues it. `workspace` has workspace_bytes().
  void run(primset_stream_t& stream, const ConvolutionMemory& memory,
           DevicePointer workspace) const;

 private:
  const std::shared_ptr<const CudnnHandle> dnn_;
  const ConvolutionShape shape_;
  const CudnnPlan plan_;
  const BiasWay bias_;
};

// Any thread may call any function; the device's context is current.
class ConvolutionLibrary {
 public:
  ConvolutionLibrary(primset_device_t& device, std::shared_ptr<const CudnnHandle> dnn)
      : device_(device), dnn_(std::move(dnn)) {}

  // Null when the library has no code that fits.
  std::shared_ptr<const ConvolutionPlan> plan(const ConvolutionShape& shape);
  void run(primset_stream_t& stream, const std::shared_ptr<const ConvolutionPlan>& plan,
           const primset_backend::Convolution& tensors) const;

 private:
  primset_device_t& device_;
  const std::shared_ptr<const CudnnHandle> dnn_;
  static constexpr size_t kMostConvolutionPlans = 1024;
  primset_backend::PlanCache<ConvolutionShape, ConvolutionPlan> plans_{kMostConvolutionPlans};
};

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_CONVOLUTION_CONVOLUTION_LIBRARY_H_
