// An open device: its primary context, which the process's other users of CUDA share.
#ifndef PRIMSET_BACKENDS_CUDA_DEVICE_H_
#define PRIMSET_BACKENDS_CUDA_DEVICE_H_

#include <primset/plugin.h>

#include <memory>
#include <mutex>
#include <new>

#include "backends/common/compiled_cache.h"
#include "backends/common/device_buffer.h"
#include "backends/cuda/cublaslt.h"
#include "backends/cuda/driver.h"
#include "backends/cuda/library_tuning.h"

namespace primset_cuda {
class AttentionLibrary;
class ConvolutionLibrary;
class FftLibrary;
class LinalgLibraries;
class MatrixKernels;
}  // namespace primset_cuda

struct primset_device_t {
  primset_device_t(std::shared_ptr<primset_cuda::Driver> driver, uint32_t index);
  ~primset_device_t();
  primset_device_t(const primset_device_t&) = delete;
  primset_device_t& operator=(const primset_device_t&) = delete;

  primset_device_properties properties() const;

  // A new address; throws BackendError. Any thread.
  primset_cuda::DevicePointer allocate(uint64_t bytes);
  void free(primset_cuda::DevicePointer address) noexcept;
  // Page-locked memory for the host's side of copies. The context is current.
  char* allocate_on_host(uint64_t bytes);
  void free_on_host(char* address) noexcept;
  // What backends/common/peer_functions.h asks: maps the memory of each for the other. Any thread.
  bool reach(const primset_device_t& peer) const;

  // Libraries, opened when they are first asked for; null where there is none. Any thread; the
  // context is current.
  primset_cuda::MatrixLibrary* matrices();           // cuBLASLt
  primset_cuda::FftLibrary* ffts();                  // cuFFT
  primset_cuda::ConvolutionLibrary* convolutions();  // cuDNN
  primset_cuda::AttentionLibrary* attentions();      // likewise
  const primset_cuda::LinalgLibraries* linalg();     // cuBLAS and cuSOLVER
  // The plugin's own kernels, loaded when they are first asked for. Throws BackendError.
  const primset_cuda::MatrixKernels& kernels();

  const std::shared_ptr<primset_cuda::Driver> driver;
  const primset_cuda::DriverApi& cu;
  const primset_cuda::PhysicalDevice& physical;
  primset_cuda::Context context = nullptr;
  const primset_backend::CompiledCache cubins;
  const primset_cuda::LibraryTuning tuning;

 private:
  // Memory comes from the driver's pool in the order of a stream of its own: giving it back then
  // waits for nothing, whereas cuMemFree waits for the whole device. Null where there are no pools.
  primset_cuda::Stream memory_stream_ = nullptr;
  std::mutex memory_mutex_;

  void open_cudnn();

  std::once_flag matrices_opened_, ffts_opened_, cudnn_opened_, linalg_opened_, kernels_loaded_;
  std::unique_ptr<primset_cuda::MatrixLibrary> matrices_;
  std::unique_ptr<primset_cuda::FftLibrary> ffts_;
  std::unique_ptr<primset_cuda::ConvolutionLibrary> convolutions_;
  std::unique_ptr<primset_cuda::AttentionLibrary> attentions_;
  std::unique_ptr<primset_cuda::LinalgLibraries> linalg_;
  std::unique_ptr<primset_cuda::MatrixKernels> kernels_;
};

struct primset_buffer_t : primset_backend::DeviceBuffer<primset_device_t> {
  using DeviceBuffer::DeviceBuffer;
};

namespace primset_cuda {

// Makes the device's context the thread's for a while. A thread that had none keeps that of the
// first device, which is what CUDA's runtime would give it.
class ContextScope {
 public:
  explicit ContextScope(const primset_device_t& device);
  // For releasing things: a driver that refuses, because it is gone or the device is, is ignored.
  ContextScope(const primset_device_t& device, std::nothrow_t) noexcept;
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  const DriverApi& cu_;
  Context previous_ = nullptr;
  Result result_;
  bool restore_ = false;
};

// While it lives, the thread may make and free things although a stream of it is being captured:
// what it does then is done at once and is no part of the graph.
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const DriverApi& cu) : cu_(cu) {
    PRIMSET_CUDA(cu_, cuThreadExchangeStreamCaptureMode, &mode_);
  }
  ~RelaxedCapture() { cu_.cuThreadExchangeStreamCaptureMode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  const DriverApi& cu_;
  int mode_ = kCaptureModeRelaxed;  // then the thread's before
};

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_DEVICE_H_
