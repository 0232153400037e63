#include "backends/cpu/linalg/blas_api.h"

#include <string>

#include "backends/common/blocked_signals.h"

namespace primset_cpu {
namespace {

template <typename T>
void load(primset_backend::SharedLibrary& library, const std::string& letter, Blas<T>& to) {
  library.need(to.gemm, (letter + "gemm_").c_str());
  library.need(to.trsm, (letter + "trsm_").c_str());
  library.need(to.potrf, (letter + "potrf_").c_str());
}

// OpenBLAS with threads: what Debian has without any is not safe to call from several. It is told
// to use none, which holds for the whole process: one that the caller has loaded before is left
// alone.
const BlasLibrary* open() {
  const primset_backend::BlockedSignals scope;  // it starts its threads here
  if (primset_backend::SharedLibrary::is_open(PRIMSET_OPENBLAS)) return nullptr;
  static BlasLibrary blas(PRIMSET_OPENBLAS);
  if (!blas.library) return nullptr;
  void (*set_num_threads)(int) = nullptr;
  blas.library.need(set_num_threads, "openblas_set_num_threads");
  load(blas.library, "s", blas.f32);
  load(blas.library, "d", blas.f64);
  load(blas.library, "c", blas.c64);
  load(blas.library, "z", blas.c128);
  if (!blas.library.missing().empty()) return nullptr;
  set_num_threads(1);
  return &blas;
}

}  // namespace

const BlasLibrary* blas_library() {
  static const BlasLibrary* const library = open();
  return library;
}

}  // namespace primset_cpu
