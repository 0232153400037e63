// The level_zero back end: every GPU that a Level Zero driver of the machine shows.
#include <primset/plugin.h>

#include <array>

#include "backends/common/peer_functions.h"
#include "backends/common/plugin_functions.h"
#include "backends/common/recording_functions.h"
#include "backends/common/staging/pinned_functions.h"
#include "backends/level_zero/driver.h"
#include "backends/level_zero/module.h"
#include "backends/level_zero/stream.h"

namespace {

struct LevelZero {
  static constexpr const char* kName = "level_zero";
  using Driver = primset_level_zero::Driver;
  using Scope = primset_backend::NoScope;
  static constexpr std::array kExtensions = {
      primset_backend::Extension{PRIMSET_EXT_RECORDING, &primset_backend::kRecordings<Scope>},
      primset_backend::Extension{PRIMSET_EXT_PINNED_MEMORY, &primset_backend::kPinnedMemory<Scope>},
      primset_backend::Extension{PRIMSET_EXT_PEER_COPY, &primset_backend::kPeerCopies<Scope>},
  };
};

}  // namespace

primset_status* primset_plugin_query(const primset_host* host, uint32_t min_version,
                                     uint32_t max_version, const primset_plugin** out_plugin) {
  return primset_backend::query_plugin<LevelZero>(host, min_version, max_version, out_plugin);
}
