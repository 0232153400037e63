// The driver as this process sees it: loaded and initialised once, and its devices.
#ifndef PRIMSET_BACKENDS_CUDA_DRIVER_H_
#define PRIMSET_BACKENDS_CUDA_DRIVER_H_

#include <primset/plugin.h>

#include <string>

#include "backends/common/shared_driver.h"
#include "backends/cuda/errors.h"

namespace primset_cuda {

constexpr uint32_t kMaxParamBytes = 4096;  // what every driver takes

struct PhysicalDevice {
  Device handle = 0;
  bool memory_pools = false;
  std::string sm;                          // "sm_90"
  primset_device_properties properties{};  // all but llvm_cpu, which is `sm`
};

class Driver : public primset_backend::DeviceList<PhysicalDevice> {
 public:
  // Without CUDA on the machine there are no devices; that is no error. Throws BackendError for
  // anything else that fails.
  explicit Driver(const primset_host* host);

  const DriverApi& cu() const { return cu_; }
  int version() const { return version_; }  // of CUDA: 13000 for 13.0

 private:
  DriverApi cu_;
  int version_ = 0;
};

}  // namespace primset_cuda

#endif  // PRIMSET_BACKENDS_CUDA_DRIVER_H_
