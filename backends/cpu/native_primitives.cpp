#include "backends/common/status.h"
#include "backends/cpu/primitives.h"

namespace primset_cpu {
namespace {

primset_status* find(primset_device, const char* name, const primset_primitive_call* call,
                     primset_primitive* out) {
  return primset_backend::guarded("find", [&]() -> primset_status* {
    if (find_matrix_product(name, *call, out) || find_wide_product(name, *call, out) ||
        find_attention(name, *call, out) || find_convolution(name, *call, out) ||
        find_linalg_primitive(name, *call, out) || find_sparse_primitive(name, *call, out) ||
        find_compaction(name, *call, out) || find_sort(name, *call, out) ||
        find_selection(name, *call, out) || find_unique(name, *call, out) ||
        find_pooling(name, *call, out) || find_resampling(name, *call, out) ||
        find_sampling(name, *call, out))
      return nullptr;
    return primset_backend::make_status(
        PRIMSET_UNSUPPORTED, "find: %s of these types is left to generated kernels", name);
  });
}

}  // namespace

const primset_primitives* native_primitives() {
  static const primset_primitives table = {sizeof(primset_primitives), 0, find};
  return &table;
}

}  // namespace primset_cpu
