#include "backends/cuda/testing/host_lapack.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace host_lapack {
namespace {

void* library() {
  static void* const handle = dlopen(PRIMSET_OPENBLAS, RTLD_NOW | RTLD_LOCAL);
  return handle;
}

}  // namespace

bool is_there() {
  return library() != nullptr;
}

void* routine(size_t type, const std::string& of_real, const std::string& of_complex) {
  const std::string name = "sdcz"[type] + (is_complex(type) ? of_complex : of_real) + "_";
  if (void* found = dlsym(library(), name.c_str())) return found;
  std::fprintf(stderr, "host_lapack: no %s\n", name.c_str());
  std::abort();
}

}  // namespace host_lapack
