#include "backends/cuda/driver_api.h"

#include "backends/common/shared_library.h"
#include "backends/common/status.h"

namespace primset_cuda {

bool DriverApi::load() {
  primset_backend::SharedLibrary library("libcuda.so.1");
  if (!library) return false;
#define PRIMSET_CUDA_LOAD(name, parameters) library.need(name, #name);
  PRIMSET_CUDA_FUNCTIONS(PRIMSET_CUDA_LOAD)
#undef PRIMSET_CUDA_LOAD
  if (!library.missing().empty())
    throw primset_backend::BackendError(
        PRIMSET_UNSUPPORTED,
        library.missing() + "; the driver is too old: expected one of CUDA 11.8 or newer");
  return true;
}

}  // namespace primset_cuda
