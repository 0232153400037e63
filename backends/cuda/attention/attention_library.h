// Attention by cuDNN on one device, and how it computes the calls asked for lately.
#ifndef PRIMSET_BACKENDS_CUDA_ATTENTION_ATTENTION_LIBRARY_H_
#define PRIMSET_BACKENDS_CUDA_ATTENTION_ATTENTION_LIBRARY_H_

#include <primset/plugin.h>

#include <memory>

#include "backends/common/plan_cache.h"
#include "backends/cuda/attention/attention_shape.h"
#include "backends/cuda/libraries/cudnn_graph.h"

namespace primset_cuda {

// Any thread may call any function; the device's context is current.
class AttentionLibrary {
 public:
  AttentionLibrary(primset_device_t& device, std::shared_ptr<const CudnnHandle> dnn)
      : device_(device), dnn_(std::move(dnn)) {}

  // Null when the library has no code that fits.
  std::shared_ptr<const CudnnPlan> plan(const AttentionShape& shape);
  // Whether a call's tensors lie as the plan wants them; run() copies others.
  static bool takes_as_they_lie(const AttentionTensors& tensors);
  // Whether copies take few launches; what takes more is left to generated kernels.
  static bool can_copy(const AttentionTensors& tensors);
  void run(primset_stream_t& stream, const std::shared_ptr<const CudnnPlan>& plan,
           const AttentionCall& call) const;

 private:
  primset_device_t& device_;
  const std::shared_ptr<const CudnnHandle> dnn_;
  static constexpr size_t kMostAttentionPlans = 1024;
  primset_backend::PlanCache<AttentionShape, CudnnPlan> plans_{kMostAttentionPlans};
};

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_ATTENTION_ATTENTION_LIBRARY_H_
