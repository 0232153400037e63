// The kernel cache on disk of this process: of all its devices and of their plugins.
#ifndef PRIMSET_SDK_RUNTIME_CACHE_SHARED_CACHE_H_
#define PRIMSET_SDK_RUNTIME_CACHE_SHARED_CACHE_H_

#include <memory>

#include "sdk/runtime/cache/disk_cache.h"

namespace primset::runtime {

// In $PRIMSET_CACHE, else $XDG_CACHE_HOME/primset, else ~/.cache/primset; off for PRIMSET_CACHE=off
// and where there is no home. Looks first into the packs that $PRIMSET_PACK names (files, with
// colons between them; off: no packs at all) and that lie beside plugins. Never null; made at first
// use. Any thread.
std::shared_ptr<const DiskCache> shared_cache();

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_CACHE_SHARED_CACHE_H_
