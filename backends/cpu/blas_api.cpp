#include "backends/cpu/blas_api.h"

#include <dlfcn.h>

#include <string>

#include "backends/common/blocked_signals.h"

namespace primset_cpu {
namespace {

template <typename Function>
bool load(void* library, const std::string& name, Function*& to) {
  to = reinterpret_cast<Function*>(dlsym(library, name.c_str()));
  return to != nullptr;
}

template <typename T>
bool load_all(void* library, const std::string& letter, Blas<T>& to) {
  return load(library, letter + "gemm_", to.gemm) && load(library, letter + "trsm_", to.trsm) &&
         load(library, letter + "potrf_", to.potrf);
}

// OpenBLAS without threads, as Debian has it beside those with threads. Never closed.
const BlasLibrary* open() {
  const primset_backend::BlockedSignals scope;
  void* library = dlopen(PRIMSET_SERIAL_BLAS, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) return nullptr;
  static BlasLibrary blas;
  const bool whole = load_all(library, "s", blas.f32) && load_all(library, "d", blas.f64) &&
                     load_all(library, "c", blas.c64) && load_all(library, "z", blas.c128);
  return whole ? &blas : nullptr;
}

}  // namespace

const BlasLibrary* blas_library() {
  static const BlasLibrary* const library = open();
  return library;
}

}  // namespace primset_cpu
