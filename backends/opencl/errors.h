// Inside this back end an OpenCL error is an exception; at the ABI boundary it becomes a status.
#ifndef PRIMSET_BACKENDS_OPENCL_ERRORS_H_
#define PRIMSET_BACKENDS_OPENCL_ERRORS_H_

#include <primset/plugin.h>

#include <string>

#include "backends/common/status.h"
#include "backends/opencl/functions.h"

namespace primset_opencl {

// "CL_OUT_OF_RESOURCES (-5)"; for others their number.
std::string result_name(cl_int result);
// The PRIMSET_* code a result becomes.
uint32_t status_code(cl_int result);

// Throws BackendError.
inline void check(cl_int result, const char* function) {
  if (result != CL_SUCCESS) [[unlikely]]
    throw primset_backend::BackendError(status_code(result),
                                        std::string(function) + ": " + result_name(result));
}

// The same of a function that waits: resources that run out while a command executes are what
// drivers say of a kernel that faulted.
void check_wait(cl_int result, const char* function);

using primset_backend::guarded;

}  // namespace primset_opencl

#endif  // PRIMSET_BACKENDS_OPENCL_ERRORS_H_
