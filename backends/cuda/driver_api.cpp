#include "backends/cuda/driver_api.h"

#include <dlfcn.h>

#include <string>

#include "backends/common/status.h"

namespace primset_cuda {
namespace {

template <typename F>
void need(void* library, F& function, const char* name) {
  function = reinterpret_cast<F>(dlsym(library, name));
  if (!function)
    throw primset_backend::BackendError(
        PRIMSET_UNSUPPORTED, std::string("libcuda.so.1 has no ") + name +
                                 "; the driver is too old: expected one of CUDA 11.8 or newer");
}

}  // namespace

bool DriverApi::load() {
  // Never closed: the driver leaves threads and exit handlers behind.
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
#define PRIMSET_CUDA_LOAD(name, parameters) need(library, name, #name);
  PRIMSET_CUDA_FUNCTIONS(PRIMSET_CUDA_LOAD)
#undef PRIMSET_CUDA_LOAD
  return true;
}

}  // namespace primset_cuda
