// What a tensor of a sparse layout is made of. As ATen has them:
//
//   sparse_coo     indices [sparse dims, nnz] i64, values [nnz, dense dims...]
//   sparse_csr     compressed [batch..., rows + 1], plain [batch..., nnz], values [batch..., nnz,
//   dense dims...] sparse_csc     the same, compressed over columns sparse_bsr     values
//   [batch..., nnz, block rows, block columns, dense dims...], rows of blocks sparse_bsc     the
//   same, compressed over columns of blocks
#ifndef PRIMSET_SDK_RUNTIME_TENSOR_SPARSE_PARTS_H_
#define PRIMSET_SDK_RUNTIME_TENSOR_SPARSE_PARTS_H_

#include <primset/formats.h>
#include <primset/tensor.h>

namespace primset::runtime {

struct SparseParts {
  Layout layout = Layout::sparse_coo;
  Tensor indices;     // COO
  Tensor compressed;  // the others: crow_indices or ccol_indices, i64 or i32
  Tensor plain;       // the others: col_indices or row_indices, of compressed's dtype
  Tensor values;
  bool coalesced = false;  // COO: indices ascend and none comes up twice
};

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_TENSOR_SPARSE_PARTS_H_
