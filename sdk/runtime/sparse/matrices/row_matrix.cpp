#include "sdk/runtime/sparse/matrices/row_matrix.h"

#include <algorithm>

#include "sdk/runtime/sparse/conversion.h"

namespace primset::runtime {
namespace {

Tensor line(const Tensor& indices, int64_t d) {
  return op("select.int", indices, int64_t{0}, d);
}

// indices[last dim] + its size * (indices[batch] ...): where an entry is in a matrix whose blocks
// along the diagonal are those of the batch.
Tensor on_diagonal(const Tensor& coo, int64_t dim) {
  const Tensor indices = parts_of(coo).indices;
  const int64_t batch = sparse_dims(coo) - 2;
  if (batch == 0) return line(indices, dim);
  const Tensor leading = op("slice.Tensor", indices, int64_t{0}, int64_t{0}, batch);
  const Tensor matrix = linear_indices(leading, coo.sizes().first(static_cast<size_t>(batch)));
  return op("add.Tensor", line(indices, batch + dim), matrix, Scalar(coo.size(batch + dim)));
}

RowMatrix rows_of_coo(const Tensor& t) {
  const Tensor coo = coalesced(t);
  int64_t matrices = 1;
  for (const int64_t size : coo.sizes().first(static_cast<size_t>(sparse_dims(coo) - 2)))
    matrices *= size;
  RowMatrix m;
  m.values = parts_of(coo).values;
  m.rows = matrices * coo.size(-2), m.width = matrices * coo.size(-1);
  m.pointers = op("_compress_rows", on_diagonal(coo, 0), m.rows);
  m.columns = on_diagonal(coo, 1);
  return m;
}

}  // namespace

RowMatrix row_matrix(const Tensor& t) {
  const bool own_parts = is_compressed(t) && !has_blocks(t.layout()) && batch_dims(t) == 0;
  if (!own_parts) return rows_of_coo(to_coo(t));
  const SparseParts& parts = parts_of(t);
  RowMatrix m{parts.values, parts.compressed, parts.plain, t.size(0), t.size(1), false};
  if (compresses_rows(parts.layout)) return m;
  std::swap(m.rows, m.width);
  m.transposed = true;
  return m;
}

RowMatrix transpose_of(RowMatrix m) {
  m.transposed = !m.transposed;
  return m;
}

RowMatrix by_rows(const RowMatrix& m) {
  if (!m.transposed) return m;
  const Tensor indices =
      op("stack", std::vector{op("to.dtype", m.columns, DType::i64), rows_of_entries(m)});
  return rows_of_coo(make_coo(indices, m.values, Sizes{m.width, m.rows}, false));
}

Tensor times(const RowMatrix& m, const Tensor& dense, std::string_view reduce) {
  return op("_csr_matmul", m.values, m.pointers, m.columns, dense, m.width, m.transposed, reduce);
}

// Each block's product with a line of blocks of the dense matrix, and these added up by the line of
// the result that they belong to.
Tensor times_blocks(const Tensor& t, const Tensor& dense, bool transpose) {
  const SparseParts& parts = parts_of(t);
  const int64_t blocks = parts.plain.size(0), columns = dense.dim() == 2 ? dense.size(1) : 1;
  const Tensor coo = op("_convert_indices_from_csr_to_coo", parts.compressed, parts.plain, false,
                        !compresses_rows(parts.layout));
  const Tensor values = transpose ? op("mT", parts.values) : parts.values;
  const int64_t height = values.size(1), width = values.size(2);
  const Tensor from = line(coo, transpose ? 0 : 1), to = line(coo, transpose ? 1 : 0);
  const int64_t rows = t.size(transpose ? 1 : 0);
  const Tensor lines =
      op("reshape", dense, IntList{t.size(transpose ? 0 : 1) / width, width, columns});
  const Tensor products = op("bmm", values, op("index_select", lines, int64_t{0}, from));
  const RowMatrix sums{op("ones", IntList{blocks}, dense.dtype(), std::nullopt, dense.device()),
                       op("arange", Scalar(blocks + 1), DType::i64, std::nullopt, dense.device()),
                       to,
                       blocks,
                       rows / height,
                       true};
  const Tensor y = times(sums, op("reshape", products, IntList{blocks, height * columns}));
  return op("reshape", y, dense.dim() == 2 ? IntList{rows, columns} : IntList{rows});
}

Tensor times_unordered(const Tensor& coo, const Tensor& vector, bool transpose) {
  const SparseParts& parts = parts_of(coo);
  const Tensor from = line(parts.indices, transpose ? 0 : 1),
               to = line(parts.indices, transpose ? 1 : 0);
  const Tensor products =
      op("mul.Tensor", parts.values, op("index_select", vector, int64_t{0}, from));
  const Tensor zeros = op("new_zeros", vector, IntList{coo.size(transpose ? 1 : 0)});
  return op("index_add", zeros, int64_t{0}, to, products);
}

// The number of products is read from the device: the results' memory depends on it.
RowMatrix times(const RowMatrix& a, const RowMatrix& b) {
  if (a.transposed) {
    RowMatrix y = times(transpose_of(b), transpose_of(a));
    return transpose_of(std::move(y));
  }
  const Tensor lengths = row_lengths(b, DType::i64);
  const int64_t products =
      integer_in(op("sum", op("index_select", lengths, int64_t{0}, a.columns)));
  const double all = static_cast<double>(a.rows) * static_cast<double>(b.width);
  const int64_t entries = all < static_cast<double>(products) ? a.rows * b.width : products;
  const std::vector<Tensor> made = ops("_csr_csr_matmul", a.values, a.pointers, a.columns, b.values,
                                       b.pointers, b.columns, b.width, products, entries);
  return {made[0], made[1], made[2], a.rows, b.width, false};
}

// An entry reads a column of b, which is laid out in one piece: there are more entries than
// columns.
Tensor sampled_product(const RowMatrix& m, const Tensor& a, const Tensor& b) {
  const Tensor columns = op("contiguous", op("t", b), MemoryFormat::contiguous);
  return op("_csr_sampled_matmul", a, op("t", columns), m.pointers, m.columns);
}

Tensor rows_of_entries(const RowMatrix& m) {
  const Tensor coo = op("_convert_indices_from_csr_to_coo", m.pointers, m.columns, false, false);
  return line(coo, 0);
}

Tensor row_lengths(const RowMatrix& m, DType dtype) {
  return op("to.dtype", op("diff", m.pointers), dtype);
}

}  // namespace primset::runtime
