#include "backends/level_zero/functions.h"

#include <dlfcn.h>

#include <string>

#include "backends/common/status.h"

namespace primset_level_zero {
namespace {

template <typename F>
void need(void* library, F& function, const char* name) {
  function = reinterpret_cast<F>(dlsym(library, name));
  if (!function)
    throw primset_backend::BackendError(
        PRIMSET_UNSUPPORTED, std::string("libze_loader.so.1 has no ") + name + "; it is too old");
}

}  // namespace

bool Functions::load() {
  // Never closed: drivers leave threads and exit handlers behind that live in its address space.
  void* library = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
#define PRIMSET_ZE_NEED(name) need(library, name, #name);
  PRIMSET_ZE_FUNCTIONS(PRIMSET_ZE_NEED)
#undef PRIMSET_ZE_NEED
  return true;
}

}  // namespace primset_level_zero
