// Inside this back end an OpenCL error is an exception; at the ABI boundary it becomes a status.
#ifndef PRIMSET_BACKENDS_OPENCL_ERRORS_H_
#define PRIMSET_BACKENDS_OPENCL_ERRORS_H_

#include "backends/common/results.h"
#include "backends/common/status.h"
#include "backends/opencl/functions.h"

namespace primset_opencl {

extern const primset_backend::Results kResults;

// Throws BackendError.
inline void check(cl_int result, const char* function) {
  if (result != CL_SUCCESS) [[unlikely]]
    kResults.fail(result, function);
}

// The same of a function that waits: resources that run out while a command executes are what
// drivers say of a kernel that faulted.
void check_wait(cl_int result, const char* function);

}  // namespace primset_opencl

#endif  // PRIMSET_BACKENDS_OPENCL_ERRORS_H_
