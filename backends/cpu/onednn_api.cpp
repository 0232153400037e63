#include "backends/cpu/onednn_api.h"

namespace primset_cpu {
namespace {

const OneDnn* open() {
  primset_backend::SharedLibrary library("libdnnl.so.2");
  if (!library) return nullptr;
  static OneDnn dnn;
#define PRIMSET_ONEDNN_LOAD(name) library.need(dnn.name, #name);
  PRIMSET_ONEDNN_FUNCTIONS(PRIMSET_ONEDNN_LOAD)
#undef PRIMSET_ONEDNN_LOAD
  if (!library.missing().empty()) return nullptr;
  // Found through the library's own dependencies.
  library.want(dnn.omp_set_num_threads, "omp_set_num_threads");
  library.want(dnn.omp_get_max_threads, "omp_get_max_threads");
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
