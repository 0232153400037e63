#include <algorithm>

#include "backends/common/status.h"
#include "backends/cpu/primitives.h"

namespace primset_cpu {
namespace {

// In the order in which they are asked: of products the first one that takes a call is the faster.
constexpr bool (*kFinders[])(const char*, const primset_primitive_call&, primset_primitive*) = {
    find_matrix_product,   find_wide_product,     find_attention,     find_convolution,
    find_linalg_primitive, find_sparse_primitive, find_compaction,    find_sort,
    find_selection,        find_unique,           find_pooling,       find_resampling,
    find_sampling,         find_permutation,      find_row_gradients, find_segments,
};

primset_status* find(primset_device, const char* name, const primset_primitive_call* call,
                     primset_primitive* out) {
  return primset_backend::guarded("find", [&]() -> primset_status* {
    if (std::ranges::any_of(kFinders, [&](auto finder) { return finder(name, *call, out); }))
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
