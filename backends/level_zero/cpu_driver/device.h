// The driver's one device.
#ifndef PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_DEVICE_H_
#define PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_DEVICE_H_

#include <level_zero/ze_api.h>

#include <cstddef>
#include <cstdint>

namespace primset_cpu_driver {

inline constexpr uint32_t kMaxGroupThreads = 256;
inline constexpr size_t kMaxPatternBytes = 16;
inline constexpr uint32_t kQueues = 4;  // of the one queue group

ze_device_handle_t device_handle();

}  // namespace primset_cpu_driver

#endif  // PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_DEVICE_H_
