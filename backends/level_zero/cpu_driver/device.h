// The driver's devices, alike in all but their handles and UUIDs, and what is not shared: the
// memory that one allocates, others reach as ZE_TEST_PEERS says.
#ifndef PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_DEVICE_H_
#define PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_DEVICE_H_

#include <level_zero/ze_api.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace primset_cpu_driver {

inline constexpr uint32_t kMaxGroupThreads = 256;
inline constexpr size_t kMaxPatternBytes = 16;
inline constexpr uint32_t kQueues = 4;  // of the one queue group

ze_device_handle_t device_handle(uint32_t index);
// None: the handle is no device's.
std::optional<uint32_t> device_index(ze_device_handle_t handle);
// Whether commands of a device may use memory of the peer.
bool reaches(uint32_t device, uint32_t peer);

}  // namespace primset_cpu_driver

// Finds the index of a device as `name`, or returns from the function.
#define PRIMSET_CPU_DRIVER_FIND_DEVICE(name, handle)                                           \
  const std::optional<uint32_t> name##_found = ::primset_cpu_driver::device_index(handle);     \
  if (!name##_found)                                                                           \
    return ::primset_cpu_driver::refuse(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,                   \
                                        "%s: %s is no handle of a device", __func__, #handle); \
  const uint32_t name = *name##_found

#endif  // PRIMSET_BACKENDS_LEVEL_ZERO_CPU_DRIVER_DEVICE_H_
