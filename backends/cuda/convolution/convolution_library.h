// cuDNN on one device, and how it computes the convolutions asked for lately.
#ifndef PRIMSET_BACKENDS_CUDA_CONVOLUTION_CONVOLUTION_LIBRARY_H_
#define PRIMSET_BACKENDS_CUDA_CONVOLUTION_CONVOLUTION_LIBRARY_H_

#include <primset/plugin.h>

#include <memory>
#include <mutex>

#include "backends/common/plan_cache.h"
#include "backends/cuda/convolution/convolution_shape.h"
#include "backends/cuda/libraries/cudnn_api.h"

namespace primset_cuda {

// What is computed and what it is computed from, on the device.
struct ConvolutionMemory {
  DevicePointer x = 0, w = 0, y = 0, bias = 0;
};

// The library's handle. A call sets its stream first, so that threads take turns.
class CudnnHandle {
 public:
  explicit CudnnHandle(std::shared_ptr<const CudnnApi> api);
  ~CudnnHandle();
  CudnnHandle(const CudnnHandle&) = delete;
  CudnnHandle& operator=(const CudnnHandle&) = delete;

  const CudnnApi& api() const { return *api_; }
  DnnHandle get() const { return handle_; }
  std::mutex& mutex() const { return mutex_; }

 private:
  const std::shared_ptr<const CudnnApi> api_;
  DnnHandle handle_ = nullptr;
  mutable std::mutex mutex_;
};

// A convolution's descriptors and the algorithm chosen for it.
class ConvolutionPlan {
 public:
  // Null when the library has no code that fits. Throws BackendError for any other failure.
  static std::shared_ptr<const ConvolutionPlan> make(std::shared_ptr<const CudnnHandle> dnn,
                                                     const ConvolutionShape& shape);
  explicit ConvolutionPlan(std::shared_ptr<const CudnnHandle> dnn);
  ~ConvolutionPlan();
  ConvolutionPlan(const ConvolutionPlan&) = delete;
  ConvolutionPlan& operator=(const ConvolutionPlan&) = delete;

  uint64_t workspace_bytes() const { return workspace_bytes_; }
  // Enqueues it. `workspace` has workspace_bytes().
  void run(const ConvolutionMemory& memory, DevicePointer workspace, Stream stream) const;

 private:
  bool describe(const ConvolutionShape& shape);
  bool describe_bias(const ConvolutionShape& shape);
  bool choose();
  DnnStatus list_choices(int wanted, int* given, DnnChoice* choices) const;
  DnnStatus ask_workspace(size_t* bytes) const;
  DnnStatus enqueue(const ConvolutionMemory& memory, DevicePointer workspace, const void* one,
                    const void* kept) const;

  const std::shared_ptr<const CudnnHandle> dnn_;
  primset_backend::ConvolutionKind kind_{};
  bool wide_ = false;  // scales are f64
  bool halves_ = false;
  bool has_bias_ = false;
  DnnTensor x_ = nullptr, y_ = nullptr, bias_ = nullptr;
  DnnFilter w_ = nullptr;
  DnnWindows windows_ = nullptr;
  int algorithm_ = 0;
  size_t workspace_bytes_ = 0;
};

// Any thread may call any function; the device's context is current.
class ConvolutionLibrary {
 public:
  // Null where there is no cuDNN; the log says what is odd.
  static std::unique_ptr<ConvolutionLibrary> open(primset_device_t& device);

  // Null when the library has no code that fits.
  std::shared_ptr<const ConvolutionPlan> plan(const ConvolutionShape& shape);
  void run(primset_stream_t& stream, const std::shared_ptr<const ConvolutionPlan>& plan,
           const ConvolutionMemory& memory) const;

 private:
  explicit ConvolutionLibrary(primset_device_t& device) : device_(device) {}

  primset_device_t& device_;
  std::shared_ptr<const CudnnHandle> dnn_;
  static constexpr size_t kMostConvolutionPlans = 1024;
  primset_backend::PlanCache<ConvolutionShape, ConvolutionPlan> plans_{kMostConvolutionPlans};
};

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_CONVOLUTION_CONVOLUTION_LIBRARY_H_
