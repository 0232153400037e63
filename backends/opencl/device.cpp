#include "backends/opencl/device.h"

#include <utility>

using namespace primset_opencl;

primset_device_t::primset_device_t(std::shared_ptr<Platforms> platforms, uint32_t index)
    : OpenDevice(std::move(platforms), index),
      cl(physical.cl),
      context(PRIMSET_CL_MAKE(cl, clCreateContext, nullptr, 1, &physical.handle, nullptr, nullptr),
              {cl.clReleaseContext}) {}

uint64_t primset_device_t::allocate(uint64_t bytes) {
  // Drivers need not look: a CPU's memory is found to be short when it is written.
  primset_backend::check_allocation(bytes, physical.largest_allocation);
  return reinterpret_cast<uint64_t>(PRIMSET_CL_MAKE(cl, clDeviceMemAllocINTEL, context.get(),
                                                    physical.handle, nullptr, bytes,
                                                    physical.properties.memory_alignment));
}

char* primset_device_t::allocate_on_host(uint64_t bytes) {
  return static_cast<char*>(PRIMSET_CL_MAKE(cl, clHostMemAllocINTEL, context.get(), nullptr, bytes,
                                            physical.properties.memory_alignment));
}

void primset_device_t::free(uint64_t address) noexcept {
  cl.clMemBlockingFreeINTEL(context.get(), primset_backend::pointer(address));
}
