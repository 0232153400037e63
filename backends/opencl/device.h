// An open device: its context, its memory, and what its compiler made.
#ifndef PRIMSET_BACKENDS_OPENCL_DEVICE_H_
#define PRIMSET_BACKENDS_OPENCL_DEVICE_H_

#include <primset/plugin.h>

#include <memory>

#include "backends/common/device_buffer.h"
#include "backends/opencl/platforms.h"

struct primset_device_t
    : primset_backend::OpenDevice<primset_opencl::Platforms, primset_opencl::PhysicalDevice> {
  primset_device_t(std::shared_ptr<primset_opencl::Platforms> platforms, uint32_t index);

  // Unified shared memory of the device, or of the host for staging. Throws BackendError.
  uint64_t allocate(uint64_t bytes);
  void free(uint64_t address) noexcept;
  char* allocate_on_host(uint64_t bytes);
  void free_on_host(char* address) noexcept { free(reinterpret_cast<uint64_t>(address)); }

  const primset_opencl::Functions& cl;
  const primset_opencl::Owned<cl_context> context;
};

struct primset_buffer_t : primset_backend::DeviceBuffer<primset_device_t> {
  using DeviceBuffer::DeviceBuffer;
};

#endif  // PRIMSET_BACKENDS_OPENCL_DEVICE_H_
