// Inside this back end a driver's error is an exception; at the ABI boundary it becomes a status.
#ifndef PRIMSET_BACKENDS_CUDA_ERRORS_H_
#define PRIMSET_BACKENDS_CUDA_ERRORS_H_

#include <primset/plugin.h>

#include <string>

#include "backends/common/abi_boundary.h"
#include "backends/common/status.h"
#include "backends/cuda/driver_api.h"

namespace primset_cuda {

using primset_backend::BackendError;
using primset_backend::guarded;

// The PRIMSET_* code a result becomes. Errors after which the driver refuses every further call of
// the process ("sticky" ones) are a lost device.
uint32_t status_code(Result result);

// Throws BackendError: "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2)".
[[noreturn]] void fail(const DriverApi& cu, Result result, const char* function);

inline void check(const DriverApi& cu, Result result, const char* function) {
  if (result != kSuccess) [[unlikely]]
    fail(cu, result, function);
}

// "CUDA_ERROR_OUT_OF_MEMORY (2)"
std::string result_name(const DriverApi& cu, Result result);

}  // namespace primset_cuda

// Calls a driver function by name and throws for anything but success.
#define PRIMSET_CUDA(cu, function, ...) \
  ::primset_cuda::check((cu), (cu).function(__VA_ARGS__), #function)

#endif  // PRIMSET_BACKENDS_CUDA_ERRORS_H_
