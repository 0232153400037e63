// What Level Zero says of a device, and what follows from it.
#ifndef PRIMSET_BACKENDS_LEVEL_ZERO_DEVICE_INFO_H_
#define PRIMSET_BACKENDS_LEVEL_ZERO_DEVICE_INFO_H_

#include <level_zero/ze_api.h>

#include <optional>
#include <string>
#include <vector>

#include "backends/common/spirv_claims.h"
#include "backends/level_zero/functions.h"

namespace primset_level_zero {

struct DeviceInfo {
  uint32_t driver_version = 0;
  ze_device_properties_t device{};
  ze_device_compute_properties_t compute{};
  ze_device_module_properties_t module{};
  ze_device_fp_atomic_ext_flags_t f32_atomics = 0;
  uint64_t memory_bytes = 0;  // of the largest memory
  std::vector<ze_command_queue_group_properties_t> queue_groups;
};

// Asks the driver; throws BackendError.
DeviceInfo ask(const Functions& ze, ze_driver_handle_t driver, ze_device_handle_t device);

// The queue group that computes and fills memory with patterns of any size that the plugin
// interface has.
std::optional<uint32_t> compute_group(const DeviceInfo& info);

primset_backend::SpirvKernelDevice describe(const DeviceInfo& info);

// What the compiler is to be told for the claims to hold.
std::string build_options(const DeviceInfo& info);

// All that compiled code depends on beside its SPIR-V.
std::string cache_target(const DeviceInfo& info);

}  // namespace primset_level_zero

#endif  // PRIMSET_BACKENDS_LEVEL_ZERO_DEVICE_INFO_H_
