// cuBLAS and cuSOLVER: their functions, of a device, and their handles, of a stream.
#ifndef PRIMSET_BACKENDS_CUDA_LINALG_HANDLES_H_
#define PRIMSET_BACKENDS_CUDA_LINALG_HANDLES_H_

#include <primset/plugin.h>

#include <memory>
#include <type_traits>
#include <vector>

#include "backends/cuda/libraries/cusolver_api.h"

namespace primset_cuda {

class LinalgHandles;

// Any thread may call any function; the device's context is current.
class LinalgLibraries {
 public:
  // Null where one of the two is missing or does not start; the log says what is odd.
  static std::unique_ptr<LinalgLibraries> open(primset_device_t& device);

  const CublasApi& blas() const { return blas_; }
  const CusolverApi& solver() const { return solver_; }

 private:
  LinalgLibraries() = default;

  CublasApi blas_;
  CusolverApi solver_;
};

// Of one stream, whose work they enqueue and in whose order they are used: handles have memory of
// their own. Some functions wait for the device; none is part of a recording.
class LinalgHandles {
 public:
  // Throws BackendError.
  LinalgHandles(const LinalgLibraries& libraries, Stream stream);

  BlasHandle blas() const { return blas_.get(); }
  SolverHandle solver() const { return solver_.get(); }
  SolverParams params() const { return params_.get(); }
  JacobiParams jacobi() const { return jacobi_.get(); }
  EighJacobiParams eigh_jacobi() const { return eigh_jacobi_.get(); }
  // Memory of the host, whose functions may use it until the stream has passed them. Grows after
  // the stream was waited for.
  void* host_memory(primset_stream_t& stream, size_t bytes);

 private:
  template <typename Handle>
  using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, int (*)(Handle)>;

  Owned<BlasHandle> blas_;
  Owned<SolverHandle> solver_;
  Owned<SolverParams> params_;
  Owned<JacobiParams> jacobi_;
  Owned<EighJacobiParams> eigh_jacobi_;
  std::vector<char> host_memory_;
};

// The stream's handles, made when they are first asked for.
LinalgHandles& linalg_handles(primset_stream_t& stream);

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_LINALG_HANDLES_H_
