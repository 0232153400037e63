// Between layouts. Every one goes through COO, where entries stand one by one.
#ifndef PRIMSET_SDK_RUNTIME_SPARSE_CONVERSION_H_
#define PRIMSET_SDK_RUNTIME_SPARSE_CONVERSION_H_

#include "sdk/runtime/sparse/sparse_call.h"

namespace primset::runtime {

// Of any layout. Batches of compressed tensors become sparse dims, blocks their elements.
Tensor to_coo(const Tensor& t);
// The elements of a strided tensor that are not zero; `sparse` leading dims, the others dense.
Tensor dense_to_coo(const Tensor& t, int64_t sparse);
// Of a COO tensor with two sparse dims, and one more for each of a batch. `block` is of blocks'
// rows and columns, where the layout has blocks. Throws where entries of a batch differ in number.
Tensor coo_to_compressed(const Tensor& coo, Layout layout, Ints block = {});
// Likewise of a strided tensor: two dims, the first `batch` of a batch, the others dense.
Tensor dense_to_compressed(const Tensor& t, Layout layout, Ints block, int64_t batch);
// Rows and columns of the blocks of a compressed tensor; none where the layout has none.
Sizes block_of(const Tensor& compressed);
// Of any layout; a strided one is itself.
Tensor to_strided(const Tensor& t);
// COO [nnz]: where each entry stands among all of `sizes`, in row-major order.
Tensor linear_indices(const Tensor& indices, Ints sizes);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_SPARSE_CONVERSION_H_
