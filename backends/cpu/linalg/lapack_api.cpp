#include "backends/cpu/linalg/lapack_api.h"

#include <dlfcn.h>

#include <string>

namespace primset_cpu {
namespace {

template <typename T>
bool load_routines(void* library, const std::string& letter, Lapack<T>& to) {
  const auto load = [&](const std::string& name, auto*& routine) {
    routine = reinterpret_cast<std::remove_reference_t<decltype(routine)>>(
        dlsym(library, (letter + name + "_").c_str()));
    return routine != nullptr;
  };
  const bool complex = kIsComplex<T>;
  return load("geqrf", to.geqrf) && load("larft", to.larft) && load("larfb", to.larfb) &&
         load("gesdd", to.gesdd) && load(complex ? "heevd" : "syevd", to.heevd) &&
         load("geev", to.geev) && load("sytrf", to.sytrf) && load("sytrs", to.sytrs) &&
         load(complex ? "hetrf" : "sytrf", to.hetrf) && load(complex ? "hetrs" : "sytrs", to.hetrs);
}

const LapackLibrary* load_all_routines() {
  const BlasLibrary* blas = blas_library();
  if (!blas) return nullptr;
  static LapackLibrary library;
  const bool whole = load_routines(blas->handle, "s", library.f32) &&
                     load_routines(blas->handle, "d", library.f64) &&
                     load_routines(blas->handle, "c", library.c64) &&
                     load_routines(blas->handle, "z", library.c128);
  return whole ? &library : nullptr;
}

}  // namespace

const LapackLibrary* lapack_library() {
  static const LapackLibrary* const library = load_all_routines();
  return library;
}

}  // namespace primset_cpu
