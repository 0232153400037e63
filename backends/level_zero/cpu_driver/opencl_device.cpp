#include "backends/level_zero/cpu_driver/opencl_device.h"

#include <type_traits>
#include <vector>

namespace primset_cpu_driver {

std::string OpenClDevice::text(cl_device_info what) const {
  size_t bytes = 0;
  clGetDeviceInfo(device, what, 0, nullptr, &bytes);
  std::string value(bytes, '\0');
  clGetDeviceInfo(device, what, bytes, value.data(), nullptr);
  value.resize(value.find('\0') == value.npos ? value.size() : value.find('\0'));
  return value;
}

bool OpenClDevice::has_extension(const char* name) const {
  return text(CL_DEVICE_EXTENSIONS).find(name) != std::string::npos;
}

bool OpenClDevice::find() {
  cl_uint platform_count = 0;
  if (clGetPlatformIDs(0, nullptr, &platform_count) != CL_SUCCESS) return false;
  std::vector<cl_platform_id> platforms(platform_count);
  clGetPlatformIDs(platform_count, platforms.data(), nullptr);
  for (cl_platform_id p : platforms) {
    cl_uint count = 0;
    if (clGetDeviceIDs(p, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) continue;
    std::vector<cl_device_id> devices(count);
    clGetDeviceIDs(p, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr);
    for (cl_device_id d : devices) {
      platform = p;
      device = d;
      if (has_extension("cl_khr_il_program") && has_extension("cl_intel_unified_shared_memory"))
        return true;
    }
  }
  return false;
}

bool OpenClDevice::load_functions() {
  const auto load = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        clGetExtensionFunctionAddressForPlatform(platform, name));
    return function != nullptr;
  };
  return load(device_alloc, "clDeviceMemAllocINTEL") &&
         load(shared_alloc, "clSharedMemAllocINTEL") && load(host_alloc, "clHostMemAllocINTEL") &&
         load(blocking_free, "clMemBlockingFreeINTEL") &&
         load(set_pointer, "clSetKernelArgMemPointerINTEL") &&
         load(enqueue_copy, "clEnqueueMemcpyINTEL") && load(enqueue_fill, "clEnqueueMemFillINTEL");
}

bool OpenClDevice::open() {
  if (!find() || !load_functions()) return false;
  context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  return context != nullptr;
}

OpenClDevice& cl() {
  static auto* const one = new OpenClDevice;
  return *one;
}

ze_result_t result_of(cl_int error) {
  switch (error) {
    case CL_SUCCESS:
      return ZE_RESULT_SUCCESS;
    case CL_OUT_OF_HOST_MEMORY:
      return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    case CL_OUT_OF_RESOURCES:
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
      return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    case CL_INVALID_BUFFER_SIZE:
      return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
    case CL_INVALID_WORK_GROUP_SIZE:
      return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
    default:
      return ZE_RESULT_ERROR_UNKNOWN;
  }
}

}  // namespace primset_cpu_driver
