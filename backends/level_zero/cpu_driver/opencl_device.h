// The OpenCL device that computes: the first that takes SPIR-V and has unified shared memory.
#ifndef PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_OPENCL_DEVICE_H_
#define PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_OPENCL_DEVICE_H_

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <level_zero/ze_api.h>

#include <string>

namespace primset_cpu_driver {

struct OpenClDevice {
  // False where there is none.
  bool open();

  template <typename T>
  T info(cl_device_info what) const {
    T value{};
    clGetDeviceInfo(device, what, sizeof(value), &value, nullptr);
    return value;
  }
  std::string text(cl_device_info what) const;
  bool has_extension(const char* name) const;

  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  clDeviceMemAllocINTEL_fn device_alloc = nullptr;
  clSharedMemAllocINTEL_fn shared_alloc = nullptr;
  clHostMemAllocINTEL_fn host_alloc = nullptr;
  clMemBlockingFreeINTEL_fn blocking_free = nullptr;
  clSetKernelArgMemPointerINTEL_fn set_pointer = nullptr;
  clEnqueueMemcpyINTEL_fn enqueue_copy = nullptr;
  clEnqueueMemFillINTEL_fn enqueue_fill = nullptr;

 private:
  bool find();
  bool load_functions();
};

// The one of this process; outlives every thread.
OpenClDevice& cl();

ze_result_t result_of(cl_int error);

}  // namespace primset_cpu_driver

#endif  // PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_OPENCL_DEVICE_H_
