// An open device: its context, its memory, and what its compiler made.
#ifndef PRIMSET_BACKENDS_OPENCL_DEVICE_H_
#define PRIMSET_BACKENDS_OPENCL_DEVICE_H_

#include <primset/plugin.h>

#include <memory>

#include "backends/common/compiled_cache.h"
#include "backends/common/device_buffer.h"
#include "backends/opencl/errors.h"
#include "backends/opencl/platforms.h"

namespace primset_opencl {

// The largest that OpenCL lets a program ask for everywhere: the size of its widest vector.
inline constexpr uint32_t kMemoryAlignment = 128;

// What OpenCL calls an address in unified shared memory.
inline void* pointer(uint64_t address) {
  return reinterpret_cast<void*>(address);
}

}  // namespace primset_opencl

struct primset_device_t {
  primset_device_t(std::shared_ptr<primset_opencl::Platforms> platforms, uint32_t index);
  ~primset_device_t();
  primset_device_t(const primset_device_t&) = delete;
  primset_device_t& operator=(const primset_device_t&) = delete;

  primset_device_properties properties() const;

  // Unified shared memory of the device, or of the host for staging. Throws BackendError.
  uint64_t allocate(uint64_t bytes);
  void free(uint64_t address) noexcept;
  char* allocate_on_host(uint64_t bytes);
  void free_on_host(char* address) noexcept;

  const std::shared_ptr<primset_opencl::Platforms> platforms;
  const primset_opencl::PhysicalDevice& physical;
  const primset_opencl::Functions& cl;
  const primset_opencl::MemoryFunctions& memory;
  const primset_backend::CompiledCache binaries;
  cl_context context = nullptr;
};

struct primset_buffer_t : primset_backend::DeviceBuffer<primset_device_t> {
  using DeviceBuffer::DeviceBuffer;
};

#endif  // PRIMSET_BACKENDS_OPENCL_DEVICE_H_
