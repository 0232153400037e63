// The tensors of a convolution as the library takes them: row-major, without gaps, at addresses of
// kConvolutionAlignment. So the bits do not depend on how the caller's lie.
#ifndef PRIMSET_BACKENDS_CUDA_CONVOLUTION_DENSE_TENSORS_H_
#define PRIMSET_BACKENDS_CUDA_CONVOLUTION_DENSE_TENSORS_H_

#include <primset/plugin.h>

#include <optional>

#include "backends/common/convolution/convolution.h"
#include "backends/cuda/scratch.h"

namespace primset_cuda {

// What is computed and what it is computed from, on the device.
struct ConvolutionMemory {
  DevicePointer x = 0, w = 0, y = 0, bias = 0;
};

class DenseTensors {
 public:
  // Whether all lie as they are to.
  static bool hold(const primset_backend::Convolution& tensors);
  // Whether copies take few launches; what takes more is left to generated kernels.
  static bool can_copy(const primset_backend::Convolution& tensors);

  // Enqueues copies of those operands that lie otherwise.
  DenseTensors(primset_stream_t& stream, const primset_backend::Convolution& tensors,
               std::optional<Scratch>& scratch);
  const ConvolutionMemory& memory() const { return memory_; }
  // Enqueues the copy of the result to where the caller wants it, if that is elsewhere.
  void finish() const;

 private:
  DevicePointer dense(const primset_tensor* t);

  primset_stream_t& stream_;
  const primset_backend::Convolution& tensors_;
  std::optional<Scratch>& scratch_;
  ConvolutionMemory memory_;
  DevicePointer result_ = 0;  // where it is computed
};

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_CONVOLUTION_DENSE_TENSORS_H_
