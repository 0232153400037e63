#include "backends/cpu/linalg/blas_api.h"

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

// OpenBLAS with threads: what Debian has without any is not safe to call from several. It is told
// to use none, which holds for the whole process: one that the caller has loaded before is left
// alone. Never closed.
const BlasLibrary* open() {
  constexpr int kMode = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
  const primset_backend::BlockedSignals scope;  // it starts its threads here
  if (dlopen(PRIMSET_OPENBLAS, kMode | RTLD_NOLOAD)) return nullptr;
  void* library = dlopen(PRIMSET_OPENBLAS, kMode);
  if (!library) return nullptr;
  static BlasLibrary blas;
  void (*set_num_threads)(int) = nullptr;
  const bool whole = load(library, "openblas_set_num_threads", set_num_threads) &&
                     load_all(library, "s", blas.f32) && load_all(library, "d", blas.f64) &&
                     load_all(library, "c", blas.c64) && load_all(library, "z", blas.c128);
  if (!whole) return nullptr;
  set_num_threads(1);
  blas.handle = library;
  return &blas;
}

}  // namespace

const BlasLibrary* blas_library() {
  static const BlasLibrary* const library = open();
  return library;
}

}  // namespace primset_cpu
