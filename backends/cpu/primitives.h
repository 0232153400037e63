// The native primitives of the cpu back end: what a library does faster than generated kernels.
#ifndef PRIMSET_BACKENDS_CPU_PRIMITIVES_H_
#define PRIMSET_BACKENDS_CPU_PRIMITIVES_H_

#include <primset/plugin.h>

namespace primset_cpu {

const primset_primitives* native_primitives();

// Says of a call that it is run here, and how. Alone it pays from `least_products` on.
inline bool answer(primset_primitive* out, decltype(primset_primitive::run) run,
                   uint32_t flags = PRIMSET_PRIMITIVE_STRIDED, uint64_t least_products = 0,
                   const void* data = nullptr) {
  out->flags = flags;
  out->run = run;
  out->data = data;
  out->least_products = least_products;
  return run != nullptr;
}

// Whether a library, or a loop of our own, has this call, and how it is run.
bool find_matrix_product(const char* name, const primset_primitive_call& call,
                         primset_primitive* out);
bool find_wide_product(const char* name, const primset_primitive_call& call,
                       primset_primitive* out);
bool find_attention(const char* name, const primset_primitive_call& call, primset_primitive* out);
bool find_convolution(const char* name, const primset_primitive_call& call, primset_primitive* out);
bool find_compaction(const char* name, const primset_primitive_call& call, primset_primitive* out);
bool find_linalg_primitive(const char* name, const primset_primitive_call& call,
                           primset_primitive* out);
bool find_sparse_primitive(const char* name, const primset_primitive_call& call,
                           primset_primitive* out);
bool find_pooling(const char* name, const primset_primitive_call& call, primset_primitive* out);
bool find_sampling(const char* name, const primset_primitive_call& call, primset_primitive* out);
bool find_resampling(const char* name, const primset_primitive_call& call, primset_primitive* out);
bool find_sort(const char* name, const primset_primitive_call& call, primset_primitive* out);
bool find_selection(const char* name, const primset_primitive_call& call, primset_primitive* out);
bool find_permutation(const char* name, const primset_primitive_call& call, primset_primitive* out);
bool find_row_gradients(const char* name, const primset_primitive_call& call,
                        primset_primitive* out);
bool find_segments(const char* name, const primset_primitive_call& call, primset_primitive* out);
bool find_unique(const char* name, const primset_primitive_call& call, primset_primitive* out);

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_PRIMITIVES_H_
