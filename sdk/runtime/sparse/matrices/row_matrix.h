// What products are computed of: sparse matrices by their rows, and the transposes of such. Of CSR
// and CSC tensors it is their own parts.
#ifndef PRIMSET_SDK_RUNTIME_SPARSE_MATRICES_ROW_MATRIX_H_
#define PRIMSET_SDK_RUNTIME_SPARSE_MATRICES_ROW_MATRIX_H_

#include "sdk/runtime/sparse/sparse_call.h"

namespace primset::runtime {

struct RowMatrix {
  Tensor values;    // [entries]
  Tensor pointers;  // [rows + 1]: where each row begins, and the last one ends
  Tensor columns;   // [entries]
  int64_t rows = 0, width = 0;
  bool transposed = false;  // it stands for the transpose of what these are the rows of

  int64_t height() const { return transposed ? width : rows; }
};

// Of a matrix of any sparse layout. A batch of matrices becomes one, in which they follow one
// another along the diagonal.
RowMatrix row_matrix(const Tensor& t);
RowMatrix transpose_of(RowMatrix m);
// The same matrix with its own rows in order.
RowMatrix by_rows(const RowMatrix& m);

// A tensor of blocks, or its transpose, times a dense matrix or vector: dense products of its
// blocks, added up.
Tensor times_blocks(const Tensor& t, const Tensor& dense, bool transpose);
// A COO tensor with one entry in many places, or its transpose, times a vector.
Tensor times_unordered(const Tensor& coo, const Tensor& vector, bool transpose);
// Sparse by dense: a matrix or a vector. The rows' products may be reduced otherwise than by sums.
Tensor times(const RowMatrix& m, const Tensor& dense, std::string_view reduce = "sum");
// Sparse by sparse, both as they are or both transposed; so is the result.
RowMatrix times(const RowMatrix& a, const RowMatrix& b);
// The elements of a product of dense matrices at the places of m, which is not transposed.
Tensor sampled_product(const RowMatrix& m, const Tensor& a, const Tensor& b);
// The row of each entry.
Tensor rows_of_entries(const RowMatrix& m);
// How many entries each row has, in dtype.
Tensor row_lengths(const RowMatrix& m, DType dtype);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_SPARSE_MATRICES_ROW_MATRIX_H_
