#include "backends/cpu/linalg/lapack_api.h"

#include <string>

namespace primset_cpu {
namespace {

template <typename T>
void load(primset_backend::SharedLibrary& library, const std::string& letter, Lapack<T>& to) {
  const auto need = [&](const std::string& name, auto*& routine) {
    library.need(routine, (letter + name + "_").c_str());
  };
  const bool complex = kIsComplex<T>;
  need("geqrf", to.geqrf);
  need("larft", to.larft);
  need("larfb", to.larfb);
  need("gesdd", to.gesdd);
  need(complex ? "heevd" : "syevd", to.heevd);
  need("geev", to.geev);
  need("sytrf", to.sytrf);
  need("sytrs", to.sytrs);
  need(complex ? "hetrf" : "sytrf", to.hetrf);
  need(complex ? "hetrs" : "sytrs", to.hetrs);
}

const LapackLibrary* load_routines() {
  const BlasLibrary* blas = blas_library();
  if (!blas) return nullptr;
  primset_backend::SharedLibrary library = blas->library;
  static LapackLibrary lapack;
  load(library, "s", lapack.f32);
  load(library, "d", lapack.f64);
  load(library, "c", lapack.c64);
  load(library, "z", lapack.c128);
  return library.missing().empty() ? &lapack : nullptr;
}

}  // namespace

const LapackLibrary* lapack_library() {
  static const LapackLibrary* const library = load_routines();
  return library;
}

}  // namespace primset_cpu
