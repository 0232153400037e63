// Products of which a factor is sparse, for the operators that are made of them.
#ifndef PRIMSET_SDK_RUNTIME_SPARSE_MATRICES_PRODUCTS_H_
#define PRIMSET_SDK_RUNTIME_SPARSE_MATRICES_PRODUCTS_H_

#include "sdk/runtime/sparse/matrices/row_matrix.h"

namespace primset::runtime {

// Throw what ATen says of factors that are no matrices, do not fit or differ in dtype, from out=
// too.
void require_product_dtypes(const SparseCall& call, const Tensor& a, const Tensor& b);
void require_factors(const SparseCall& call, const Tensor& a, const Tensor& b);

// The product of two matrices: sparse if both are, of that layout or the one that mm gives it.
// Layouts with blocks become CSR. A strided result of a strided matrix by a sparse one is by
// columns where a layout is given.
Tensor matrix_product(const Tensor& a, const Tensor& b, std::optional<Layout> layout = {});
// beta c + alpha a b, all of them sparse, in c's layout: what either has entries for has one.
struct ScaledMatrix {
  Tensor matrix;
  Scalar factor;
};
Tensor sparse_sum(const ScaledMatrix& c, const ScaledMatrix& a, const Tensor& b);
// The product of two batches of matrices, one of them strided.
Tensor batched_product(const SparseCall& call, const Tensor& a, const Tensor& b);
// beta self + alpha product, where a beta of 0 leaves self out.
Tensor scaled_sum(const SparseCall& call, const Tensor& self, const Tensor& product);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_SPARSE_MATRICES_PRODUCTS_H_
