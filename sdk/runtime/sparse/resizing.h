// Other sizes of sparse tensors.
#ifndef PRIMSET_SDK_RUNTIME_SPARSE_RESIZING_H_
#define PRIMSET_SDK_RUNTIME_SPARSE_RESIZING_H_

#include "sdk/runtime/sparse/sparse_call.h"

namespace primset::runtime {

// A COO tensor with entries keeps its numbers of dims, and none of its sizes shrinks: an index
// could be left behind. Throws in ATen's words.
void require_resizable(const SparseCall& call, const Tensor& self, Ints sizes, int64_t sparse,
                       int64_t dense);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_SPARSE_RESIZING_H_
