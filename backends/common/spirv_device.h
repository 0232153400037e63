// An open device of a driver that compiles SPIR-V of the Kernel flavour: what OpenCL and Level Zero
// have alike.
#ifndef PRIMSET_BACKENDS_COMMON_SPIRV_DEVICE_H_
#define PRIMSET_BACKENDS_COMMON_SPIRV_DEVICE_H_

#include <primset/plugin.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "backends/common/compiled_cache.h"

namespace primset_backend {

// What of such a device matters to either, asked once.
struct SpirvDevice {
  primset_device_properties properties{};
  uint64_t largest_allocation = 0;  // as long as nothing special is asked for
  std::string build_options;        // what the compiler is to be told for the claims to hold
  std::string cache_target;         // all that compiled code depends on beside its SPIR-V
};

// A Driver is a DeviceList of Physical, which is derived from SpirvDevice.
template <typename Driver, typename Physical>
struct OpenDevice {
  OpenDevice(std::shared_ptr<Driver> shared, uint32_t index)
      : driver(std::move(shared)),
        physical(driver->devices()[index]),
        binaries(driver->host(), physical.cache_target) {}
  OpenDevice(const OpenDevice&) = delete;
  OpenDevice& operator=(const OpenDevice&) = delete;

  const primset_device_properties& properties() const { return physical.properties; }

  const std::shared_ptr<Driver> driver;
  const Physical& physical;
  const CompiledCache binaries;
};

}  // namespace primset_backend

#endif  // PRIMSET_BACKENDS_COMMON_SPIRV_DEVICE_H_
