// The OpenCL functions this back end calls, found at run time: the plugin loads on machines without
// OpenCL, and then has no devices.
#ifndef PRIMSET_BACKENDS_OPENCL_FUNCTIONS_H_
#define PRIMSET_BACKENDS_OPENCL_FUNCTIONS_H_

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <string>

#define PRIMSET_CL_FUNCTIONS(X)               \
  X(clBuildProgram)                           \
  X(clCreateCommandQueueWithProperties)       \
  X(clCreateContext)                          \
  X(clCreateKernel)                           \
  X(clCreateProgramWithBinary)                \
  X(clCreateProgramWithIL)                    \
  X(clEnqueueBarrierWithWaitList)             \
  X(clEnqueueMarkerWithWaitList)              \
  X(clEnqueueNDRangeKernel)                   \
  X(clFinish)                                 \
  X(clFlush)                                  \
  X(clGetDeviceIDs)                           \
  X(clGetDeviceInfo)                          \
  X(clGetEventInfo)                           \
  X(clGetExtensionFunctionAddressForPlatform) \
  X(clGetPlatformIDs)                         \
  X(clGetPlatformInfo)                        \
  X(clGetProgramBuildInfo)                    \
  X(clGetProgramInfo)                         \
  X(clReleaseCommandQueue)                    \
  X(clReleaseContext)                         \
  X(clReleaseEvent)                           \
  X(clReleaseKernel)                          \
  X(clReleaseProgram)                         \
  X(clRetainEvent)                            \
  X(clSetKernelArg)                           \
  X(clSetKernelExecInfo)                      \
  X(clWaitForEvents)

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
#define PRIMSET_CL_MEMBER(name) decltype(&::name) name = nullptr;
  PRIMSET_CL_FUNCTIONS(PRIMSET_CL_MEMBER)
#undef PRIMSET_CL_MEMBER

  // Opens libOpenCL.so.1 and keeps it; false when there is none, or it is older than OpenCL 2.1.
  bool load();
};

struct MemoryFunctions {
#define PRIMSET_CL_MEMBER(name) name##_fn name = nullptr;
  PRIMSET_CL_MEMORY_FUNCTIONS(PRIMSET_CL_MEMBER)
#undef PRIMSET_CL_MEMBER

  // False when the platform lacks one.
  bool load(const Functions& cl, cl_platform_id platform);
};

// What a function answers that writes as many bytes as there is room for: ask(room, out, bytes).
// Empty where it does not know.
template <typename Ask>
std::string all_bytes(Ask&& ask) {
  size_t bytes = 0;
  if (ask(0, nullptr, &bytes) != CL_SUCCESS) return {};
  std::string all(bytes, '\0');
  return ask(bytes, all.data(), nullptr) == CL_SUCCESS ? all : std::string();
}

}  // namespace primset_opencl

#endif  // PRIMSET_BACKENDS_OPENCL_FUNCTIONS_H_
