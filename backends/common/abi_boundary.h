// What every one of our plugins does at the boundary of the plugin ABI, in one place. Knows
// plugin.h only; each back end links its own copy.
#ifndef PRIMSET_BACKENDS_COMMON_ABI_BOUNDARY_H_
#define PRIMSET_BACKENDS_COMMON_ABI_BOUNDARY_H_

#include <primset/plugin.h>

#include <cstring>
#include <string>

namespace primset_backend {

// What primset_plugin_query does: hands out the plugin when this header's version is among the
// host's, and refuses otherwise.
primset_status* negotiate_version(const primset_plugin& plugin, uint32_t min_version,
                                  uint32_t max_version, const primset_plugin** out_plugin);

// Hands `p` over as device_properties does: a host of an older version knows fewer members and gets
// those.
void copy_properties(primset_device_properties p, primset_device_properties* out);

// Throws BackendError when there is no device `index`.
void check_index(uint32_t index, size_t devices);

// Throws BackendError for more bytes than a device ever has: what drivers do then differs.
void check_allocation(uint64_t bytes, uint64_t most);

void log(const primset_host* host, uint32_t level, const std::string& text);

// --- modules and launches ------------------------------------------------------------------------

// The shape of a kernel's parameter block.
struct ParamShape {
  explicit ParamShape(const primset_module_desc& desc)
      : pointer_count(desc.pointer_count), param_bytes(desc.param_bytes) {}

  uint32_t pointer_count = 0;
  uint32_t param_bytes = 0;
};

// Checks what module_load was told against the device; throws BackendError.
void check_module(const primset_module_desc& desc, const primset_device_properties& device);
// Throws BackendError when a launch does not fit its kernel.
void check_launch(const ParamShape& shape, const primset_launch& launch);

inline bool is_empty(const primset_launch& launch) {
  return launch.groups[0] == 0 || launch.groups[1] == 0 || launch.groups[2] == 0;
}

// Where a binding is, as kernels see it; 0 without a buffer.
template <typename Binding>
uint64_t address_of(const Binding& binding) {
  return binding.buffer ? binding.buffer->device_address() + binding.offset : 0;
}

// Writes the parameter block, shape.param_bytes long. Launch is primset_launch, as a parameter
// since what its buffers are is the back end's.
template <typename Launch>
void build_params(const ParamShape& shape, const Launch& launch, unsigned char* params) {
  for (uint32_t i = 0; i < shape.pointer_count; ++i) {
    const uint64_t address = address_of(launch.bindings[i]);
    std::memcpy(params + 8 * i, &address, 8);
  }
  if (launch.scalar_bytes > 0)
    std::memcpy(params + 8 * shape.pointer_count, launch.scalars, launch.scalar_bytes);
}

}  // namespace primset_backend

#endif  // PRIMSET_BACKENDS_COMMON_ABI_BOUNDARY_H_
