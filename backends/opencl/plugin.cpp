// The opencl back end: every OpenCL device that takes SPIR-V and has unified shared memory.
#include <primset/plugin.h>

#include <array>

#include "backends/common/plugin_functions.h"
#include "backends/common/staging/pinned_functions.h"
#include "backends/opencl/module.h"
#include "backends/opencl/platforms.h"
#include "backends/opencl/stream.h"

namespace {

struct OpenCl {
  static constexpr const char* kName = "opencl";
  using Driver = primset_opencl::Platforms;
  using Scope = primset_backend::NoScope;
  static constexpr std::array kExtensions = {
      primset_backend::Extension{PRIMSET_EXT_PINNED_MEMORY, &primset_backend::kPinnedMemory<Scope>},
  };
};

}  // namespace

primset_status* primset_plugin_query(const primset_host* host, uint32_t min_version,
                                     uint32_t max_version, const primset_plugin** out_plugin) {
  return primset_backend::query_plugin<OpenCl>(host, min_version, max_version, out_plugin);
}
