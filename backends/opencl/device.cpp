#include "backends/opencl/device.h"

#include <string>

using primset_backend::BackendError;
using primset_opencl::check;
using primset_opencl::kMemoryAlignment;

primset_device_t::primset_device_t(std::shared_ptr<primset_opencl::Platforms> shared,
                                   uint32_t index)
    : platforms(std::move(shared)),
      physical(platforms->devices()[index]),
      cl(platforms->cl()),
      memory(physical.memory),
      binaries(platforms->host(), physical.compiler) {
  cl_int result = CL_SUCCESS;
  context = cl.clCreateContext(nullptr, 1, &physical.handle, nullptr, nullptr, &result);
  check(result, "clCreateContext");
}

primset_device_t::~primset_device_t() {
  cl.clReleaseContext(context);
}

primset_device_properties primset_device_t::properties() const {
  primset_device_properties p{};
  primset_backend::claim(physical.claims, p);
  p.features |= PRIMSET_FEATURE_IN_ORDER;
  p.memory_alignment = kMemoryAlignment;
  return p;
}

uint64_t primset_device_t::allocate(uint64_t bytes) {
  // Drivers need not look: a CPU's memory is found to be short when it is written.
  if (bytes > physical.max_allocation)
    throw BackendError(PRIMSET_OUT_OF_MEMORY,
                       std::to_string(bytes) + " bytes; the device gives at most " +
                           std::to_string(physical.max_allocation) + " in one piece");
  cl_int result = CL_SUCCESS;
  void* address = memory.clDeviceMemAllocINTEL(context, physical.handle, nullptr, bytes,
                                               kMemoryAlignment, &result);
  check(result, "clDeviceMemAllocINTEL");
  return reinterpret_cast<uint64_t>(address);
}

char* primset_device_t::allocate_on_host(uint64_t bytes) {
  cl_int result = CL_SUCCESS;
  void* address = memory.clHostMemAllocINTEL(context, nullptr, bytes, kMemoryAlignment, &result);
  check(result, "clHostMemAllocINTEL");
  return static_cast<char*>(address);
}

void primset_device_t::free(uint64_t address) noexcept {
  memory.clMemBlockingFreeINTEL(context, primset_opencl::pointer(address));
}

void primset_device_t::free_on_host(char* address) noexcept {
  memory.clMemBlockingFreeINTEL(context, address);
}
