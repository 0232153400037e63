#include "backends/cpu/onednn_api.h"

#include <dlfcn.h>

namespace primset_cpu {
namespace {

// Never closed (NODELETE): oneDNN and its OpenMP keep threads and thread-local state.
const OneDnn* open() {
  void* library = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) return nullptr;
  static OneDnn dnn;
#define PRIMSET_ONEDNN_LOAD(name)                                         \
  dnn.name = reinterpret_cast<decltype(dnn.name)>(dlsym(library, #name)); \
  if (!dnn.name) return nullptr;
  PRIMSET_ONEDNN_FUNCTIONS(PRIMSET_ONEDNN_LOAD)
#undef PRIMSET_ONEDNN_LOAD
  // Found through the library's own dependencies.
  dnn.omp_set_num_threads = reinterpret_cast<void (*)(int)>(dlsym(library, "omp_set_num_threads"));
  dnn.omp_get_max_threads = reinterpret_cast<int (*)()>(dlsym(library, "omp_get_max_threads"));
  const dnnl_version_t* version = dnn.dnnl_version();
  // Structs passed by value are those of the headers this was built with.
  if (version->major != DNNL_VERSION_MAJOR || version->minor < DNNL_VERSION_MINOR) return nullptr;
  if (dnn.dnnl_engine_create(&dnn.engine, dnnl_cpu, 0) != dnnl_success) return nullptr;
  const unsigned isa = dnn.dnnl_get_effective_cpu_isa();
  dnn.order_by_direction = (isa & dnnl_cpu_isa_avx512_core) != dnnl_cpu_isa_avx512_core;
  return &dnn;
}

}  // namespace

const OneDnn* onednn() {
  static const OneDnn* const dnn = open();
  return dnn;
}

}  // namespace primset_cpu
