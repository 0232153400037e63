// The OpenCL devices that can run Primset's kernels, of all platforms.
#ifndef PRIMSET_BACKENDS_OPENCL_PLATFORMS_H_
#define PRIMSET_BACKENDS_OPENCL_PLATFORMS_H_

#include <primset/plugin.h>

#include "backends/common/shared_driver.h"
#include "backends/common/spirv_device.h"
#include "backends/opencl/functions.h"

namespace primset_opencl {

struct PhysicalDevice : primset_backend::SpirvDevice {
  Functions cl;  // with those of its platform
  cl_device_id handle = nullptr;
};

class Platforms : public primset_backend::DeviceList<PhysicalDevice> {
 public:
  // Without OpenCL on the machine there are no devices; that is no error. Devices that cannot run
  // our kernels are passed over, with a line in the log that says why.
  explicit Platforms(const primset_host* host);

 private:
  void add_device(const Functions& cl, cl_platform_id platform, cl_device_id handle);
};

}  // namespace primset_opencl

#endif  // PRIMSET_BACKENDS_OPENCL_PLATFORMS_H_
