// What OpenCL says of a device, as the values that this back end works with.
#ifndef PRIMSET_BACKENDS_OPENCL_DEVICE_INFO_H_
#define PRIMSET_BACKENDS_OPENCL_DEVICE_INFO_H_

#include <string>
#include <string_view>
#include <vector>

#include "backends/common/spirv_claims.h"
#include "backends/opencl/functions.h"

namespace primset_opencl {

class DeviceInfo {
 public:
  DeviceInfo(const Functions& cl, cl_device_id device) : cl_(cl), device_(device) {}

  // Zero, or empty, where the device does not know the question.
  template <typename T>
  T number(cl_device_info what) const {
    T value{};
    if (cl_.clGetDeviceInfo(device_, what, sizeof(value), &value, nullptr)) value = {};
    return value;
  }
  std::string text(cl_device_info what) const { return bytes(what).c_str(); }
  bool has(std::string_view extension) const;

  // The highest version of SPIR-V that the device takes, as 100 x major + minor; 0: none.
  uint32_t spirv_version() const;

  primset_backend::SpirvKernelDevice claims() const;

 private:
  std::string bytes(cl_device_info what) const;
  void read_arithmetic(primset_backend::SpirvKernelDevice& d) const;
  std::vector<uint32_t> subgroup_sizes() const;

  const Functions& cl_;
  cl_device_id device_;
};

}  // namespace primset_opencl

#endif  // PRIMSET_BACKENDS_OPENCL_DEVICE_INFO_H_
