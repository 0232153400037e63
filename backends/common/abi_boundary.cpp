#include "backends/common/abi_boundary.h"

#include <algorithm>
#include <cinttypes>

#include "backends/common/status.h"

namespace primset_backend {

primset_status* negotiate_version(const primset_plugin& plugin, uint32_t min_version,
                                  uint32_t max_version, const primset_plugin** out_plugin) {
  const bool spoken = min_version <= PRIMSET_ABI_VERSION && max_version >= PRIMSET_ABI_VERSION;
  *out_plugin = spoken ? &plugin : nullptr;
  if (spoken) return nullptr;
  return make_status(PRIMSET_UNSUPPORTED,
                     "the %s plugin speaks ABI version %u; the host speaks %" PRIu32 " to %" PRIu32,
                     plugin.name, PRIMSET_ABI_VERSION, min_version, max_version);
}

void copy_properties(primset_device_properties p, primset_device_properties* out) {
  const uint32_t known = out->struct_size;
  p.struct_size = known;
  p.next = known >= sizeof(p) ? out->next : nullptr;
  std::memcpy(out, &p, std::min<size_t>(known, sizeof(p)));
}

void check_index(uint32_t index, size_t devices) {
  if (index < devices) return;
  throw BackendError(PRIMSET_INVALID_ARGUMENT, "index " + std::to_string(index) + "; there are " +
                                                   std::to_string(devices) + " devices");
}

void check_allocation(uint64_t bytes, uint64_t most) {
  if (bytes <= most) return;
  throw BackendError(PRIMSET_OUT_OF_MEMORY, std::to_string(bytes) + " bytes; the device has " +
                                                std::to_string(most) + " at most");
}

void log(const primset_host* host, uint32_t level, const std::string& text) {
  if (host && host->log) host->log(host, level, text.c_str());
}

void check_module(const primset_module_desc& desc, const primset_device_properties& device) {
  if (desc.format != device.kernel_format)
    throw BackendError(PRIMSET_INVALID_ARGUMENT, "format " + std::to_string(desc.format) +
                                                     "; the device takes format " +
                                                     std::to_string(device.kernel_format));
  if (desc.param_bytes > device.max_param_bytes ||
      desc.param_bytes < uint64_t{8} * desc.pointer_count)
    throw BackendError(PRIMSET_INVALID_ARGUMENT,
                       "param_bytes " + std::to_string(desc.param_bytes) + " with " +
                           std::to_string(desc.pointer_count) +
                           " pointers; expected 8 bytes a pointer and at most " +
                           std::to_string(device.max_param_bytes));
}

void check_launch(const ParamShape& shape, const primset_launch& launch) {
  if (launch.binding_count < shape.pointer_count) [[unlikely]]
    throw BackendError(PRIMSET_INVALID_ARGUMENT,
                       std::to_string(launch.binding_count) + " bindings; the kernel has " +
                           std::to_string(shape.pointer_count) + " pointers");
  if (8 * shape.pointer_count + launch.scalar_bytes != shape.param_bytes) [[unlikely]]
    throw BackendError(PRIMSET_INVALID_ARGUMENT,
                       std::to_string(launch.scalar_bytes) + " scalar bytes; the module said " +
                           std::to_string(shape.param_bytes - 8 * shape.pointer_count));
}

}  // namespace primset_backend
