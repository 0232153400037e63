#include "backends/level_zero/functions.h"

#include "backends/common/status.h"

namespace primset_level_zero {

bool Functions::load() {
  primset_backend::SharedLibrary library("libze_loader.so.1");
  if (!library) return false;
  PRIMSET_ZE_FUNCTIONS(PRIMSET_DECLARED_NEED)
  if (!library.missing().empty())
    throw primset_backend::BackendError(PRIMSET_UNSUPPORTED, library.missing() + "; it is too old");
  return true;
}

}  // namespace primset_level_zero
