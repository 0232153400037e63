#include "backends/cuda/device.h"

#include <cstdlib>

#include "backends/cuda/attention/attention_library.h"
#include "backends/cuda/convolution/convolution_library.h"
#include "backends/cuda/fft/fft_library.h"
#include "backends/cuda/linalg/handles.h"

using namespace primset_cuda;

namespace primset_cuda {
namespace {

LibraryTuning tuning_asked_for() {
  const char* text = std::getenv("PRIMSET_CUDA_TUNING");
  return parse_library_tuning(text ? text : "");
}

}  // namespace

ContextScope::ContextScope(const primset_device_t& device, std::nothrow_t) noexcept
    : cu_(device.cu), result_(cu_.cuCtxGetCurrent(&previous_)) {
  if (result_ != kSuccess || previous_ == device.context) return;
  result_ = cu_.cuCtxSetCurrent(device.context);
  restore_ = result_ == kSuccess && (previous_ || device.physical.handle != 0);
}

ContextScope::ContextScope(const primset_device_t& device) : ContextScope(device, std::nothrow) {
  check(cu_, result_, "cuCtxSetCurrent");
}

ContextScope::~ContextScope() {
  if (restore_) cu_.cuCtxSetCurrent(previous_);
}

}  // namespace primset_cuda

primset_device_t::primset_device_t(std::shared_ptr<Driver> driver_, uint32_t index)
    : driver(std::move(driver_)),
      cu(driver->cu()),
      physical(driver->devices().at(index)),
      cubins(driver->host(), std::to_string(driver->version()) + " " + physical.sm),
      tuning(tuning_asked_for()) {
  PRIMSET_CUDA(cu, cuDevicePrimaryCtxRetain, &context, physical.handle);
  if (!physical.memory_pools) return;
  try {
    const ContextScope scope(*this);
    PRIMSET_CUDA(cu, cuStreamCreate, &memory_stream_, kStreamNonBlocking);
  } catch (...) {
    cu.cuDevicePrimaryCtxRelease_v2(physical.handle);
    throw;
  }
}

// The driver may be gone already when a process ends: what it answers here changes nothing.
primset_device_t::~primset_device_t() {
  Context previous = nullptr;
  cu.cuCtxGetCurrent(&previous);
  cu.cuCtxSetCurrent(context);
  matrices_.reset();
  ffts_.reset();
  convolutions_.reset();
  attentions_.reset();
  linalg_.reset();
  kernels_.reset();
  if (memory_stream_) {
    cu.cuStreamSynchronize(memory_stream_);
    cu.cuStreamDestroy_v2(memory_stream_);
  }
  cu.cuCtxSetCurrent(previous == context ? nullptr : previous);
  cu.cuDevicePrimaryCtxRelease_v2(physical.handle);
}

primset_device_properties primset_device_t::properties() const {
  primset_device_properties p = physical.properties;
  p.llvm_cpu = physical.sm.c_str();
  return p;
}

MatrixLibrary* primset_device_t::matrices() {
  std::call_once(matrices_opened_, [this] { matrices_ = MatrixLibrary::open(*this); });
  return matrices_.get();
}

FftLibrary* primset_device_t::ffts() {
  std::call_once(ffts_opened_, [this] { ffts_ = FftLibrary::open(*this); });
  return ffts_.get();
}

void primset_device_t::open_cudnn() {
  std::call_once(cudnn_opened_, [this] {
    const auto dnn = CudnnHandle::open(*this);
    if (!dnn) return;
    convolutions_ = std::make_unique<ConvolutionLibrary>(*this, dnn);
    attentions_ = std::make_unique<AttentionLibrary>(*this, dnn);
  });
}

ConvolutionLibrary* primset_device_t::convolutions() {
  open_cudnn();
  return convolutions_.get();
}

AttentionLibrary* primset_device_t::attentions() {
  open_cudnn();
  return attentions_.get();
}

const LinalgLibraries* primset_device_t::linalg() {
  std::call_once(linalg_opened_, [this] { linalg_ = LinalgLibraries::open(*this); });
  return linalg_.get();
}

const MatrixKernels& primset_device_t::kernels() {
  std::call_once(kernels_loaded_, [this] { kernels_ = std::make_unique<MatrixKernels>(*this); });
  return *kernels_;
}

DevicePointer primset_device_t::allocate(uint64_t bytes) {
  primset_backend::check_allocation(bytes, physical.properties.memory_bytes);
  const ContextScope scope(*this);
  DevicePointer address = 0;
  if (!memory_stream_) {
    PRIMSET_CUDA(cu, cuMemAlloc_v2, &address, bytes);
    return address;
  }
  const std::lock_guard lock(memory_mutex_);
  PRIMSET_CUDA(cu, cuMemAllocAsync, &address, bytes, memory_stream_);
  // From here on every stream may use it.
  if (const Result result = cu.cuStreamSynchronize(memory_stream_)) {
    cu.cuMemFreeAsync(address, memory_stream_);
    fail(cu, result, "cuStreamSynchronize");
  }
  return address;
}

void primset_device_t::free(DevicePointer address) noexcept {
  const ContextScope scope(*this, std::nothrow);
  if (!memory_stream_) {
    cu.cuMemFree_v2(address);
    return;
  }
  const std::lock_guard lock(memory_mutex_);
  cu.cuMemFreeAsync(address, memory_stream_);
}

char* primset_device_t::allocate_on_host(uint64_t bytes) {
  void* address = nullptr;
  PRIMSET_CUDA(cu, cuMemHostAlloc, &address, bytes, kHostAllocPortable);
  return static_cast<char*>(address);
}

void primset_device_t::free_on_host(char* address) noexcept {
  cu.cuMemFreeHost(address);
}
