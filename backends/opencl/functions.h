// The OpenCL functions this back end calls, found at run time: the plugin loads on machines without
// OpenCL, and then has no devices. Inside this back end an OpenCL error is an exception.
#ifndef PRIMSET_BACKENDS_OPENCL_FUNCTIONS_H_
#define PRIMSET_BACKENDS_OPENCL_FUNCTIONS_H_

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <string>

#include "backends/common/owned.h"
#include "backends/common/results.h"
#include "backends/common/shared_library.h"

// clang-format off
#define PRIMSET_CL_FUNCTIONS(X) \
  X(clBuildProgram) X(clCreateCommandQueueWithProperties) X(clCreateContext) X(clCreateKernel) \
  X(clCreateProgramWithBinary) X(clCreateProgramWithIL) X(clEnqueueBarrierWithWaitList) \
  X(clEnqueueMarkerWithWaitList) X(clEnqueueNDRangeKernel) X(clFinish) X(clFlush) \
  X(clGetDeviceIDs) X(clGetDeviceInfo) X(clGetEventInfo) \
  X(clGetExtensionFunctionAddressForPlatform) X(clGetPlatformIDs) X(clGetProgramBuildInfo) \
  X(clGetProgramInfo) X(clReleaseCommandQueue) X(clReleaseContext) X(clReleaseEvent) \
  X(clReleaseKernel) X(clReleaseProgram) X(clSetKernelArg) X(clSetKernelExecInfo) \
  X(clWaitForEvents)
// clang-format on

// cl_intel_unified_shared_memory, which NVIDIA's driver alone of the large ones lacks.
#define PRIMSET_CL_MEMORY_FUNCTIONS(X) \
  X(clDeviceMemAllocINTEL)             \
  X(clHostMemAllocINTEL)               \
  X(clMemBlockingFreeINTEL)            \
  X(clSetKernelArgMemPointerINTEL)     \
  X(clEnqueueMemcpyINTEL)              \
  X(clEnqueueMemFillINTEL)

namespace primset_opencl {

struct Functions {
#define PRIMSET_CL_MEMBER(name) name##_fn name = nullptr;
  PRIMSET_CL_FUNCTIONS(PRIMSET_DECLARED_MEMBER)
  PRIMSET_CL_MEMORY_FUNCTIONS(PRIMSET_CL_MEMBER)
#undef PRIMSET_CL_MEMBER

  // Opens libOpenCL.so.1 and keeps it; false when there is none, or it is older than OpenCL 2.1.
  bool load();
  // Those for the platform's memory; false when it lacks one.
  bool load_memory(cl_platform_id platform);
};

template <typename Handle>
using Owned = primset_backend::Owned<Handle, cl_int>;

// What a function answers that writes as many bytes as there is room for: ask(room, out, bytes).
// Empty where it does not know.
template <typename Ask>
std::string all_bytes(Ask&& ask) {
  size_t bytes = 0;
  if (ask(0, nullptr, &bytes) != CL_SUCCESS) return {};
  std::string all(bytes, '\0');
  return ask(bytes, all.data(), nullptr) == CL_SUCCESS ? all : std::string();
}

extern const primset_backend::Results kResults;
// Of functions that wait: resources that run out while a command executes are what drivers say of a
// kernel that faulted.
extern const primset_backend::Results kResultsOfWaits;

// What a function makes whose last parameter is where it writes its result.
template <typename Handle, typename... Parameters, typename... Arguments>
Handle made(const char* function, Handle(CL_API_CALL* make)(Parameters...),
            Arguments... arguments) {
  cl_int result = CL_SUCCESS;
  Handle handle = make(arguments..., &result);
  kResults.check(result, function);
  return handle;
}

}  // namespace primset_opencl

// Calls a function of the table by name and throws for anything but success.
#define PRIMSET_CL(cl, function, ...) \
  ::primset_opencl::kResults.check((cl).function(__VA_ARGS__), #function)
#define PRIMSET_CL_MAKE(cl, function, ...) \
  ::primset_opencl::made(#function, (cl).function, __VA_ARGS__)

#endif  // PRIMSET_BACKENDS_OPENCL_FUNCTIONS_H_
