// A buffer of a device whose memory is known by its addresses alone.
#ifndef PRIMSET_BACKENDS_COMMON_DEVICE_BUFFER_H_
#define PRIMSET_BACKENDS_COMMON_DEVICE_BUFFER_H_

#include <cstdint>

namespace primset_backend {

// The Device has
//   allocate(bytes)  an address; throws BackendError
//   free(address)    throws nothing
template <typename Device>
class DeviceBuffer {
 public:
  DeviceBuffer(Device* device, uint64_t bytes)
      : address(device->allocate(bytes)), device_(*device) {}
  ~DeviceBuffer() { device_.free(address); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  uint64_t device_address() const { return address; }

  const uint64_t address;

 private:
  Device& device_;
};

}  // namespace primset_backend

#endif  // PRIMSET_BACKENDS_COMMON_DEVICE_BUFFER_H_
