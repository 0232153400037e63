// A dot_general or matmul as products of matrices: which of its operands' dims are rows, columns,
// summed and batch, and how those lie in memory. What back ends need that have a library of matrix
// products.
#ifndef PRIMSET_BACKENDS_COMMON_CONTRACTION_H_
#define PRIMSET_BACKENDS_COMMON_CONTRACTION_H_

#include <primset/plugin.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace primset_backend {

using Dims = std::vector<uint32_t>;

// The dims of an operand by what they are for; batch and contract in the call's order.
struct Roles {
  Dims batch, contract, free;
};

// c[p] = a[p] b[p] for each p of the batch dims, a of m x k, b of k x n.
struct ContractionDims {
  Roles a, b;
  int64_t m = 1, n = 1, k = 1;
};

// Nullopt when the call is no dot_general in form: two operands of one dtype, one result,
// attributes that fit.
std::optional<ContractionDims> contraction_dims(const primset_primitive_call& call);

// The same of a matmul: a and b of one dtype and rank, perhaps a bias, one result.
std::optional<ContractionDims> matmul_dims(const primset_primitive_call& call);

int64_t size_of(const primset_tensor& t, const Dims& dims);
// Offsets, in elements, of every index of the dims, the last one fastest.
std::vector<int64_t> offsets_of(const primset_tensor& t, const Dims& dims);

// Element (i, j) of a matrix lies i rows + j cols elements after its first.
struct MatrixStrides {
  int64_t rows = 0, cols = 0;
};

// The strides of a matrix whose row index runs over `rows` and its column index over `cols`, in the
// form that libraries take: one stride is 1, the other at least the extent of what it steps over.
// A dim of size 1 may have any stride and gets one that fits. Nullopt for memory of another form.
// pre: no size is 0.
std::optional<MatrixStrides> matrix_strides(const primset_tensor& t, const Dims& rows,
                                            const Dims& cols);

}  // namespace primset_backend

#endif  // PRIMSET_BACKENDS_COMMON_CONTRACTION_H_
