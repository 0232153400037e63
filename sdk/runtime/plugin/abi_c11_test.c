/* plugin.h is C11 without extensions, and its layout is pinned. Compiling this file is the test. */
#include "sdk/runtime/plugin/abi_layout.h"

/* The query function can be defined as the header declares it. */
primset_status* primset_plugin_query(const primset_host* host, uint32_t min_version,
                                     uint32_t max_version, const primset_plugin** out_plugin) {
  (void)host;
  (void)min_version;
  (void)max_version;
  *out_plugin = NULL;
  return NULL;
}
