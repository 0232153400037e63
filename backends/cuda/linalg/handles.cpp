#include "backends/cuda/linalg/handles.h"

#include <string>

#include "backends/cuda/stream.h"

namespace primset_cuda {
namespace {

template <typename Handle>
Handle made(int (*make)(Handle*), void (*check)(int, const char*), const char* function) {
  Handle handle = nullptr;
  check(make(&handle), function);
  return handle;
}

bool load_both(CublasApi& blas, CusolverApi& solver, int driver_version, std::string& why) {
  return blas.load(driver_version, why) && solver.load(driver_version, why);
}

}  // namespace

std::unique_ptr<LinalgLibraries> LinalgLibraries::open(primset_device_t& device) {
  const auto without = [&](const std::string& why) {
    if (!why.empty())
      primset_backend::log(device.driver->host(), PRIMSET_LOG_WARNING,
                           "cuda: " + why + "; linear algebra is generated kernels");
    return nullptr;
  };
  std::unique_ptr<LinalgLibraries> libraries(new LinalgLibraries);
  std::string why;
  if (!load_both(libraries->blas_, libraries->solver_, device.driver->version(), why))
    return without(why);
  // What find accepts must run: so it is tried whether the libraries start on this device.
  try {
    const RelaxedCapture relaxed(device.cu);
    const LinalgHandles tried(*libraries, nullptr);
  } catch (const BackendError& e) {
    return without(e.what());
  }
  return libraries;
}

LinalgHandles::LinalgHandles(const LinalgLibraries& l, Stream stream)
    : blas_(made(l.blas().cublasCreate_v2, check_cublas, "cublasCreate"),
            l.blas().cublasDestroy_v2),
      solver_(made(l.solver().cusolverDnCreate, check_cusolver, "cusolverDnCreate"),
              l.solver().cusolverDnDestroy),
      params_(made(l.solver().cusolverDnCreateParams, check_cusolver, "cusolverDnCreateParams"),
              l.solver().cusolverDnDestroyParams),
      jacobi_(
          made(l.solver().cusolverDnCreateGesvdjInfo, check_cusolver, "cusolverDnCreateGesvdjInfo"),
          l.solver().cusolverDnDestroyGesvdjInfo),
      eigh_jacobi_(
          made(l.solver().cusolverDnCreateSyevjInfo, check_cusolver, "cusolverDnCreateSyevjInfo"),
          l.solver().cusolverDnDestroySyevjInfo) {
  if (!stream) return;
  PRIMSET_CUBLAS(l.blas(), cublasSetStream_v2, blas(), stream);
  PRIMSET_CUSOLVER(l.solver(), cusolverDnSetStream, solver(), stream);
}

void* LinalgHandles::host_memory(primset_stream_t& stream, size_t bytes) {
  if (bytes > host_memory_.size()) {
    PRIMSET_CUDA(stream.cu, cuStreamSynchronize, stream.handle);
    host_memory_.resize(bytes);
  }
  return host_memory_.data();
}

LinalgHandles& linalg_handles(primset_stream_t& stream) {
  if (!stream.linalg)
    stream.linalg = std::make_unique<LinalgHandles>(*stream.device->linalg(), stream.handle);
  return *stream.linalg;
}

}  // namespace primset_cuda
