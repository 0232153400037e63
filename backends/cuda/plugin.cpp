// The cuda back end: every NVIDIA GPU since Volta that libcuda.so.1 shows.
#include <primset/plugin.h>

#include <array>

#include "backends/common/peer_functions.h"
#include "backends/common/plugin_functions.h"
#include "backends/common/recording_functions.h"
#include "backends/common/staging/pinned_functions.h"
#include "backends/cuda/driver.h"
#include "backends/cuda/module.h"
#include "backends/cuda/primitives.h"
#include "backends/cuda/recording.h"
#include "backends/cuda/stream.h"

namespace {

struct Cuda {
  static constexpr const char* kName = "cuda";
  using Driver = primset_cuda::Driver;
  using Scope = primset_cuda::ContextScope;
  static constexpr std::array kExtensions = {
      primset_backend::Extension{PRIMSET_EXT_PRIMITIVES, &primset_cuda::kPrimitives},
      primset_backend::Extension{PRIMSET_EXT_RECORDING, &primset_backend::kRecordings<Scope>},
      primset_backend::Extension{PRIMSET_EXT_PINNED_MEMORY, &primset_backend::kPinnedMemory<Scope>},
      primset_backend::Extension{PRIMSET_EXT_PEER_COPY, &primset_backend::kPeerCopies<Scope>},
  };
};

}  // namespace

primset_status* primset_plugin_query(const primset_host* host, uint32_t min_version,
                                     uint32_t max_version, const primset_plugin** out_plugin) {
  return primset_backend::query_plugin<Cuda>(host, min_version, max_version, out_plugin);
}
