// Memory that is known by its addresses alone, and a buffer of it.
#ifndef PRIMSET_BACKENDS_COMMON_DEVICE_BUFFER_H_
#define PRIMSET_BACKENDS_COMMON_DEVICE_BUFFER_H_

#include <cstdint>

namespace primset_backend {

// As drivers take an address.
inline void* pointer(uint64_t address) {
  return reinterpret_cast<void*>(address);
}

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
