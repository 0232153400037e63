// The vulkan back end: every Vulkan 1.2 device whose kernels can take addresses.
#include <primset/plugin.h>

#include <array>

#include "backends/common/plugin_functions.h"
#include "backends/common/staging/pinned_functions.h"
#include "backends/vulkan/instance.h"
#include "backends/vulkan/module.h"
#include "backends/vulkan/stream.h"

namespace {

void* host_address(primset_device, primset_buffer buffer) {
  return buffer->memory.mapped;
}

primset_status* host_import(primset_device, void*, uint64_t, primset_buffer* out_buffer) {
  *out_buffer = nullptr;
  return primset_backend::make_status(PRIMSET_UNSUPPORTED,
                                      "import: the vulkan plugin uses memory of its own only");
}

constexpr primset_host_memory kHostMemory = {sizeof(primset_host_memory), 0, host_address,
                                             host_import};

struct Vulkan {
  static constexpr const char* kName = "vulkan";
  using Driver = primset_vulkan::Instance;
  using Scope = primset_backend::NoScope;
  static constexpr std::array kExtensions = {
      primset_backend::Extension{PRIMSET_EXT_HOST_MEMORY, &kHostMemory},
      primset_backend::Extension{PRIMSET_EXT_PINNED_MEMORY, &primset_backend::kPinnedMemory<Scope>},
  };
};

}  // namespace

primset_status* primset_plugin_query(const primset_host* host, uint32_t min_version,
                                     uint32_t max_version, const primset_plugin** out_plugin) {
  return primset_backend::query_plugin<Vulkan>(host, min_version, max_version, out_plugin);
}
