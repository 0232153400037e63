// What the parts of a sparse tensor must be to each other. As in ATen
// (torch.sparse.check_sparse_tensor_invariants). Each throws Error{runtime} that says what is
// wrong.
#ifndef PRIMSET_SDK_RUNTIME_SPARSE_INVARIANTS_H_
#define PRIMSET_SDK_RUNTIME_SPARSE_INVARIANTS_H_

#include "sdk/runtime/sparse/sparse_call.h"

namespace primset::runtime {

// --- of dtypes, devices and geometry -------------------------------------------------------------
void require_sparse_dims(int64_t sparse, int64_t dense, Ints sizes);
void require_coo_parts(const Tensor& indices, const Tensor& values);
void require_coo_geometry(const Tensor& indices, const Tensor& values, Ints sizes);
void require_compressed_parts(const SparseParts& parts);
void require_compressed_geometry(const SparseParts& parts, Ints sizes);

// --- of the indices' values, which are read from the device --------------------------------------
void require_coo_indices(const Tensor& indices, Ints sizes, bool coalesced);
void require_compressed_indices(const SparseParts& parts, Ints sizes);
struct CompressedIndices {
  bool rows;  // whether rows are compressed, for the message
  Tensor compressed, plain;
  int64_t compressed_dim, plain_dim, nnz;
};
void require_pointers_and_indices(const CompressedIndices& of);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_SPARSE_INVARIANTS_H_
