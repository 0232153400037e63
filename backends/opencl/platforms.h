// The OpenCL devices that can run Primset's kernels, of all platforms.
#ifndef PRIMSET_BACKENDS_OPENCL_PLATFORMS_H_
#define PRIMSET_BACKENDS_OPENCL_PLATFORMS_H_

#include <primset/plugin.h>

#include <string>
#include <vector>

#include "backends/common/spirv_claims.h"
#include "backends/opencl/functions.h"

namespace primset_opencl {

// What of a device matters here, asked once.
struct PhysicalDevice {
  cl_device_id handle = nullptr;
  cl_platform_id platform = nullptr;
  MemoryFunctions memory;
  uint64_t max_allocation = 0;
  std::string build_options;
  std::string compiler;  // the driver and device that compiled kernels are of
  primset_backend::SpirvKernelDevice claims;
};

class Platforms {
 public:
  // Without OpenCL on the machine there are no devices; that is no error. Devices that cannot run
  // our kernels are passed over, with a line in the log that says why.
  explicit Platforms(const primset_host* host);
  Platforms(const Platforms&) = delete;
  Platforms& operator=(const Platforms&) = delete;

  const primset_host* host() const { return host_; }
  const Functions& cl() const { return cl_; }
  const std::vector<PhysicalDevice>& devices() const { return devices_; }

 private:
  void add_devices(cl_platform_id platform);

  const primset_host* host_;
  Functions cl_;
  std::vector<PhysicalDevice> devices_;
};

}  // namespace primset_opencl

#endif  // PRIMSET_BACKENDS_OPENCL_PLATFORMS_H_
