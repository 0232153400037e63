#include "backends/common/shared_library.h"

#include <dlfcn.h>

namespace primset_backend {

SharedLibrary::SharedLibrary(const char* file)
    : file_(file), handle_(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
  if (!handle_) missing_ = dlerror();
}

bool SharedLibrary::is_open(const char* file) {
  return dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD) != nullptr;
}

void* SharedLibrary::find(const char* name) const {
  return handle_ ? dlsym(handle_, name) : nullptr;  // of null dlsym looks in the whole process
}

}  // namespace primset_backend
