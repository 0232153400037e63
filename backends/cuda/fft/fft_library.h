// cuFFT on one device, and plans of the transforms asked for lately.
#ifndef PRIMSET_BACKENDS_CUDA_FFT_FFT_LIBRARY_H_
#define PRIMSET_BACKENDS_CUDA_FFT_FFT_LIBRARY_H_

#include <primset/plugin.h>

#include <memory>
#include <mutex>

#include "backends/common/plan_cache.h"
#include "backends/cuda/fft/fft_call.h"
#include "backends/cuda/libraries/cufft_api.h"

namespace primset_cuda {

// A plan of the library's. It holds a stream and a workspace while a call is enqueued, so that
// threads take turns.
class FftPlan {
 public:
  // Null when the library has no code for the shape. Throws BackendError for any other failure.
  static std::shared_ptr<const FftPlan> make(std::shared_ptr<const CufftApi> fft,
                                             const FftShape& shape);
  explicit FftPlan(std::shared_ptr<const CufftApi> fft);
  ~FftPlan();
  FftPlan(const FftPlan&) = delete;
  FftPlan& operator=(const FftPlan&) = delete;

  uint64_t workspace_bytes() const { return workspace_bytes_; }
  // Enqueues a transform. `workspace` has workspace_bytes().
  FftStatus run(DevicePointer in, DevicePointer out, bool forward, DevicePointer workspace,
                Stream stream) const;

 private:
  const std::shared_ptr<const CufftApi> fft_;
  FftHandle handle_ = -1;
  size_t workspace_bytes_ = 0;
  mutable std::mutex mutex_;
};

// Any thread may call any function; the device's context is current.
class FftLibrary {
 public:
  // Null where there is no cuFFT; the log says what is odd.
  static std::unique_ptr<FftLibrary> open(primset_device_t& device);

  // Null when the library has no code for the shape.
  std::shared_ptr<const FftPlan> plan(const FftShape& shape);
  void run(primset_stream_t& stream, const FftCall& call,
           const std::shared_ptr<const FftPlan>& plan, DevicePointer in, DevicePointer out) const;

 private:
  explicit FftLibrary(primset_device_t& device) : device_(device) {}
  void run_places(primset_stream_t& stream, const FftCall& call, const FftPlan& plan,
                  DevicePointer in, DevicePointer out, DevicePointer workspace) const;

  primset_device_t& device_;
  std::shared_ptr<const CufftApi> fft_;
  // Each has its roots of unity in the device's memory.
  static constexpr size_t kMostFftPlans = 128;
  primset_backend::PlanCache<FftShape, FftPlan> plans_{kMostFftPlans};
};

// Bytes that a call needs beside its tensors. Up to kWorkspaceBytes these are the stream's own,
// which stay where they are, so that the call may be part of a recording.
uint64_t extra_bytes(const FftCall& call, const FftPlan& plan);

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_FFT_FFT_LIBRARY_H_
