// mm, mv, bmm, matmul and linear of sparse factors.
#include "sdk/runtime/sparse/matrices/products.h"

#include <algorithm>

#include "decomps/engine/argument_errors.h"
#include "sdk/runtime/sparse/conversion.h"

namespace primset::runtime {
namespace {

// "3x4"
std::string sizes_text(const Tensor& t) {
  return fmt::format("{}", fmt::join(t.sizes(), "x"));
}

// A product that is by rows, in another layout.
Tensor in_layout(const RowMatrix& y, Layout layout) {
  const Sizes sizes{y.height(), y.transposed ? y.rows : y.width};
  if (layout == Layout::sparse_csc) {
    const RowMatrix by_columns = y.transposed ? y : by_rows(transpose_of(y));
    return make_compressed(layout, by_columns.pointers, by_columns.columns, by_columns.values,
                           sizes);
  }
  if (layout != Layout::sparse_coo)
    return make_compressed(Layout::sparse_csr, y.pointers, y.columns, y.values, sizes);
  const Tensor indices =
      op("_convert_indices_from_csr_to_coo", y.pointers, y.columns, false, false);
  return make_coo(indices, y.values, sizes, true);
}

Tensor sparse_product(const RowMatrix& x, const RowMatrix& y, Layout layout) {
  if (layout == Layout::sparse_csc && x.transposed && y.transposed)
    return in_layout(times(x, y), layout);
  return in_layout(times(by_rows(x), by_rows(y)), layout);
}

// ATen's mm makes CSR of two compressed matrices; beside a COO one it is the first one's layout.
Layout product_layout(const Tensor& a, const Tensor& b) {
  return is_coo(a) || is_coo(b) ? a.layout() : Layout::sparse_csr;
}

// A sparse matrix, or its transpose, times a strided one or a vector.
Tensor sparse_by_dense(const Tensor& sparse, const Tensor& dense, bool transpose) {
  const bool unordered = is_coo(sparse) && !parts_of(sparse).coalesced && !is_half(dense.dtype());
  const bool empty = sparse.numel() == 0 || stored_entries(sparse) == 0 || dense.numel() == 0;
  if (is_compressed(sparse) && has_blocks(sparse.layout()) && !empty)
    return times_blocks(sparse, dense, transpose);
  // Of a vector each product is needed once, and no order of the entries is worth making.
  if (unordered && dense.dim() == 1) return times_unordered(sparse, dense, transpose);
  if (unordered && dense.size(1) == 1)
    return op("unsqueeze",
              times_unordered(sparse, op("select.int", dense, int64_t{1}, int64_t{0}), transpose),
              int64_t{1});
  const RowMatrix m = row_matrix(sparse);
  return times(transpose ? transpose_of(m) : m, dense);
}

// A result that ATen has in memory by columns where the sparse factor is COO.
Tensor by_columns_of(const Tensor& transposed, const Tensor& sparse) {
  const Tensor y = op("t", transposed);
  return is_coo(sparse) ? y : op("clone", y, MemoryFormat::contiguous);
}

}  // namespace

// [beta C, alpha A] [1; B]: entries of C and of the product, added up where both have one.
Tensor sparse_sum(const ScaledMatrix& c, const ScaledMatrix& a, const Tensor& b) {
  const RowMatrix x = by_rows(row_matrix(c.matrix)), y = by_rows(row_matrix(a.matrix)),
                  z = by_rows(row_matrix(b));
  const int64_t columns = z.width;
  const auto joined = [](const Tensor& t, const Tensor& u) {
    return op("cat", std::vector{op("to.dtype", t, DType::i64), op("to.dtype", u, DType::i64)},
              int64_t{0});
  };
  const auto scaled = [](const RowMatrix& m, const Scalar& by) {
    return op("mul.Scalar", m.values, by);
  };
  const Tensor left = make_coo(
      op("stack", std::vector{joined(rows_of_entries(x), rows_of_entries(y)),
                              joined(x.columns, op("add.Scalar", y.columns, Scalar(columns)))}),
      op("cat", std::vector{scaled(x, c.factor), scaled(y, a.factor)}, int64_t{0}),
      Sizes{x.rows, columns + y.width}, false);
  const Tensor one_each =
      op("arange", Scalar(columns), DType::i64, std::nullopt, z.pointers.device());
  const Tensor ones = op("new_ones", z.values, IntList{columns});
  const RowMatrix right{op("cat", std::vector{ones, z.values}, int64_t{0}),
                        joined(one_each, op("add.Scalar", z.pointers, Scalar(columns))),
                        joined(one_each, z.columns),
                        columns + z.rows,
                        columns,
                        false};
  return in_layout(times(row_matrix(left), right), c.matrix.layout());
}

void require_product_dtypes(const SparseCall& call, const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype())
    call.fail(fmt::format("expected scalar type {} but found {}", info(a.dtype()).aten_name,
                          info(b.dtype()).aten_name));
  if (is_bool(a.dtype())) throw decomps::DTypeError(call.op(), a.dtype());
  const Tensor out = call.tensor("out");
  if (out.defined() && out.dtype() != a.dtype())
    call.fail(fmt::format("expected out of scalar type {} but found {}", info(a.dtype()).aten_name,
                          info(out.dtype()).aten_name));
}

void require_factors(const SparseCall& call, const Tensor& a, const Tensor& b) {
  for (const Tensor* m : {&a, &b}) {
    if (m->dim() != 2 || (is_sparse(*m) && (sparse_dims(*m) != 2 || dense_dims(*m) != 0)))
      call.fail(fmt::format("expected matrices, but {} is a {}-D tensor{}",
                            m == &a ? "the first one" : "the second one", m->dim(),
                            m->dim() == 2 ? " with dense dims" : ""));
  }
  if (a.size(1) != b.size(0))
    call.fail(fmt::format("mat1 and mat2 shapes cannot be multiplied ({} and {})", sizes_text(a),
                          sizes_text(b)));
  require_product_dtypes(call, a, b);
}

Tensor matrix_product(const Tensor& a, const Tensor& b, std::optional<Layout> layout) {
  if (is_sparse(a) && is_sparse(b))
    return sparse_product(row_matrix(a), row_matrix(b), layout.value_or(product_layout(a, b)));
  if (is_sparse(a)) return sparse_by_dense(a, b, false);
  const Tensor y = sparse_by_dense(b, op("t", a), true);
  return layout ? op("t", y) : by_columns_of(y, b);
}

Tensor batched_product(const SparseCall& call, const Tensor& a, const Tensor& b) {
  if (a.dim() != 3 || b.dim() != 3)
    call.fail(fmt::format("expected batches of matrices, but got {}-D and {}-D tensors", a.dim(),
                          b.dim()));
  if (is_sparse(a) && is_sparse(b)) call.fail("expected a strided factor, but both are sparse");
  for (const Tensor* m : {&a, &b}) {
    if (is_sparse(*m) && dense_dims(*m) != 0)
      call.fail(fmt::format("expected no dense dims, but got {}", dense_dims(*m)));
  }
  if (a.size(0) != b.size(0)) call.fail("'self.size(0)' and 'mat2.size(0)' must match");
  if (a.size(2) != b.size(1)) call.fail("'self.size(2)' and 'mat2.size(1)' must match");
  require_product_dtypes(call, a, b);
  const int64_t batch = a.size(0), rows = a.size(1), inner = a.size(2), columns = b.size(2);
  if (batch * rows * columns == 0)
    return op("zeros", IntList{batch, rows, columns}, a.dtype(), std::nullopt, a.device());
  if (is_sparse(a)) {
    const Tensor flat = op("reshape", b, IntList{batch * inner, columns});
    return op("reshape", times(row_matrix(a), flat), IntList{batch, rows, columns});
  }
  const Tensor flat = op("reshape", op("mT", a), IntList{batch * inner, rows});
  const Tensor y = times(transpose_of(row_matrix(b)), flat);
  return op("clone", op("mT", op("view", y, IntList{batch, columns, rows})),
            MemoryFormat::contiguous);
}

std::vector<Tensor> sparse_functions::multiply_matrices(SparseCall& call) {
  const Tensor a = call.tensor(call.has("sparse") ? "sparse" : "self"),
               b = call.tensor(call.has("dense")  ? "dense"
                               : call.has("mat2") ? "mat2"
                                                  : "other");
  require_factors(call, a, b);
  // Of two sparse ones ATen's sparse.mm makes the second one's layout.
  return {
      matrix_product(a, b, call.op() == "_sparse_mm" ? std::optional(b.layout()) : std::nullopt)};
}

std::vector<Tensor> sparse_functions::multiply_by_vector(SparseCall& call) {
  const Tensor a = call.tensor("self"), vector = call.tensor("vec");
  if (is_sparse(vector)) call.fail("expected a strided vec, but its layout is sparse");
  if (a.dim() != 2 || vector.dim() != 1 || dense_dims(a) != 0)
    call.fail(fmt::format("expected a matrix and a vector, but got {}-D and {}-D tensors", a.dim(),
                          vector.dim()));
  if (a.size(1) != vector.size(0))
    call.fail(fmt::format("size mismatch, got mat ({}), vec ({})", sizes_text(a), vector.size(0)));
  require_product_dtypes(call, a, vector);
  return {sparse_by_dense(a, vector, false)};
}

std::vector<Tensor> sparse_functions::multiply_batches(SparseCall& call) {
  return {batched_product(call, call.tensor("self"), call.tensor("mat2"))};
}

// By the numbers of dims, as of strided tensors; the other products are ATen's.
std::vector<Tensor> sparse_functions::multiply(SparseCall& call) {
  const Tensor a = call.tensor("self"), b = call.tensor("other");
  const std::pair<int64_t, int64_t> dims{a.dim(), b.dim()};
  if (dims == std::pair<int64_t, int64_t>{2, 2}) return {op("mm", a, b)};
  if (dims == std::pair<int64_t, int64_t>{2, 1} && !is_sparse(b)) return {op("mv", a, b)};
  if (dims == std::pair<int64_t, int64_t>{1, 2} && !is_sparse(a))
    return {op("squeeze.dim", op("mm", op("unsqueeze", a, int64_t{0}), b), int64_t{0})};
  if (dims == std::pair<int64_t, int64_t>{3, 3}) return {op("bmm", a, b)};
  call.fail(
      fmt::format("expected matrices, a matrix and a strided vector, or batches of matrices, "
                  "but got {}-D and {}-D tensors",
                  a.dim(), b.dim()));
}

namespace {

Tensor times_weight(const Tensor& x, const Tensor& weight) {
  if (!is_sparse(weight)) return sparse_by_dense(x, op("t", weight), false);
  if (is_sparse(x))
    return sparse_product(row_matrix(x), transpose_of(row_matrix(weight)),
                          product_layout(x, weight));
  const Tensor rows = x.dim() == 1 ? op("unsqueeze", x, int64_t{0})
                                   : op("flatten.using_ints", x, int64_t{0}, int64_t{-2});
  Sizes sizes(x.sizes().begin(), x.sizes().end());
  sizes.back() = weight.size(0);
  const Tensor y = sparse_by_dense(weight, op("t", rows), false);
  return op("reshape", by_columns_of(y, weight), IntList(sizes));
}

}  // namespace

std::vector<Tensor> sparse_functions::multiply_by_weight(SparseCall& call) {
  const Tensor x = call.tensor("input"), weight = call.tensor("weight"), bias = call.tensor("bias");
  if (weight.dim() != 2 || x.dim() < 1 || (is_sparse(x) && x.dim() != 2))
    call.fail(fmt::format("expected an input and a matrix, but got {}-D and {}-D tensors", x.dim(),
                          weight.dim()));
  if (x.size(-1) != weight.size(1))
    call.fail(fmt::format("mat1 and mat2 shapes cannot be multiplied ({} and {}x{})", sizes_text(x),
                          weight.size(1), weight.size(0)));
  require_product_dtypes(call, x, weight);
  const Tensor y = times_weight(x, weight);
  return {bias.defined() ? op("add.Tensor", y, bias) : y};
}

}  // namespace primset::runtime
