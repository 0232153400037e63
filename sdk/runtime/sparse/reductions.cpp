// Sums, products and norms of sparse tensors.
#include <algorithm>

#include "sdk/runtime/sparse/conversion.h"
#include "sdk/runtime/sparse/entries.h"
#include "sdk/runtime/sparse/matrices/row_matrix.h"

namespace primset::runtime {
namespace {

bool is_exact(DType t) {
  return !is_floating(t) && !is_complex(t);
}

Tensor with_dtype(const Tensor& t, DType dtype) {
  if (t.dtype() == dtype) return t;
  return with_values(t, op("to.dtype", parts_of(t).values, dtype));
}

// The dims that `dim` lists, in ascending order; all where it lists none.
Sizes reduced_dims(const SparseCall& call, const Tensor& self) {
  const int64_t rank = self.dim();
  const Ints given = call.ints("dim");
  Sizes dims;
  for (const int64_t d : given) dims.push_back(wrapped_dim(d, rank));
  std::ranges::sort(dims);
  const auto twice = std::ranges::adjacent_find(dims);
  if (twice != dims.end())
    call.fail(fmt::format("dim {} appears multiple times in the list of dims", *twice));
  return dims;
}

Tensor sum_over(const Tensor& values, const Sizes& dims) {
  return dims.empty() ? values : op("sum.dim_IntList", values, IntList(dims));
}

// Over dense dims values are summed. Entries that differ in the sparse dims summed over alone come
// to one place, and over all sparse dims to a strided tensor.
Tensor coo_sum_over(const Tensor& self, const Sizes& dims) {
  const SparseParts& parts = parts_of(self);
  const int64_t sparse = sparse_dims(self);
  Sizes dense, kept, sizes;
  for (const int64_t d : dims) {
    if (d >= sparse) dense.push_back(d - sparse + 1);
  }
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (std::ranges::binary_search(dims, d)) continue;
    sizes.push_back(self.size(d));
    if (d < sparse) kept.push_back(d);
  }
  const Tensor values = sum_over(parts.values, dense);
  if (static_cast<int64_t>(kept.size()) == sparse)
    return coalesced(make_coo(parts.indices, values, sizes, parts.coalesced));
  if (kept.empty()) return op("sum.dim_IntList", values, IntList{0});
  const Tensor rows = Tensor::of(std::span<const int64_t>(kept),
                                 {static_cast<int64_t>(kept.size())}, self.device());
  const Tensor indices = op("index_select", parts.indices, int64_t{0}, rows);
  return coalesced(make_coo(indices, values, sizes, false));
}

void require_csr(const SparseCall& call, const Tensor& self) {
  if (self.layout() != Layout::sparse_csr || self.dim() != 2)
    call.fail(
        fmt::format("Currently the only compressed sparse format supported for {} is CSR of "
                    "rank 2, but got layout {} of rank {}",
                    call.overload().qualified, torch_layout(self), self.dim()));
}

// The values of all entries that come to one place, as one: their sum or product.
Tensor merged_values(const Tensor& values, const Tensor& slot, int64_t places, bool product) {
  if (!product)
    return op("index_add", op("new_zeros", values, IntList{places}), int64_t{0}, slot, values);
  return op("scatter_reduce.two", op("new_ones", values, IntList{places}), int64_t{0}, slot, values,
            std::string_view("prod"));
}

// The entries of a row are neighbours: each row that has any gets one in the only column.
Tensor csr_rows_reduced(const Tensor& t, bool product) {
  const RowMatrix m = row_matrix(t);
  const Sizes sizes{t.size(0), 1};
  if (is_floating(t.dtype()) && !is_float8(t.dtype())) {
    const std::vector<Tensor> rows =
        ops("_csr_rows_reduced", m.values, m.pointers, std::string_view(product ? "prod" : "sum"));
    return make_compressed(Layout::sparse_csr, rows[1], rows[2], rows[0], sizes);
  }
  const Tensor slot = op("to.dtype", rows_of_entries(m), DType::i64);
  const DType index = m.pointers.dtype();
  const Tensor some = op("gt.Scalar", row_lengths(m, index), Scalar(int64_t{0}));
  const Tensor values = op("masked_select", merged_values(m.values, slot, m.rows, product), some);
  const Tensor ends = op("cumsum", some, int64_t{0}, index);
  const Tensor pointers = op("constant_pad_nd", ends, IntList{1, 0}, Scalar(int64_t{0}));
  const Tensor columns = op("new_zeros", pointers, IntList{values.size(0)});
  return make_compressed(Layout::sparse_csr, pointers, columns, values, sizes);
}

// A matrix of one row, with entries in these columns.
Tensor csr_row(const RowMatrix& like, const Tensor& columns, const Tensor& values, int64_t width) {
  const Tensor begin = op("new_zeros", like.pointers, IntList{1});
  return make_compressed(Layout::sparse_csr,
                         op("constant_pad_nd", begin, IntList{0, 1}, Scalar(columns.size(0))),
                         op("to.dtype", columns, like.columns.dtype()), values, Sizes{1, width});
}

// Each column that has entries gets one. Where most columns have none, those that have are found by
// sorting, else in a row of all.
Tensor csr_columns_reduced(const Tensor& t, bool product) {
  constexpr int64_t kMostEmpty = 8;
  const RowMatrix m = row_matrix(t);
  const Tensor at = op("to.dtype", m.columns, DType::i64);
  if (m.width / kMostEmpty > at.size(0)) {
    const std::vector<Tensor> unique = ops("_unique2", at, true, true, false);
    const int64_t count = unique[0].size(0);
    return csr_row(m, unique[0], merged_values(m.values, unique[1], count, product), m.width);
  }
  const Tensor none = op("new_zeros", at, IntList{m.width}, DType::boolean);
  const Tensor some = op("index_fill.int_Scalar", none, int64_t{0}, at, Scalar(true));
  const Tensor columns = op("reshape", op("nonzero", some), IntList{-1});
  const Tensor all = merged_values(m.values, at, m.width, product);
  return csr_row(m, columns, op("masked_select", all, some), m.width);
}

Tensor csr_all_reduced(const Tensor& t, bool product) {
  const RowMatrix m = row_matrix(t);
  const Tensor first = op("slice.Tensor", m.columns, int64_t{0}, int64_t{0}, int64_t{1});
  if (first.size(0) == 0) return csr_row(m, first, m.values, 1);
  const Tensor all = op(product ? "prod" : "sum", m.values, t.dtype());
  return csr_row(m, op("zeros_like", first), op("reshape", all, IntList{1}), 1);
}

// A CSR matrix of one row, one column or both, with an entry wherever there is one along the dims.
Tensor csr_reduced(const SparseCall& call, const Tensor& self, const Sizes& dims, bool product) {
  require_csr(call, self);
  if (!call.flag("keepdim"))
    call.fail("reduction operations on CSR tensors with keepdim=False is unsupported");
  const DType own = self.dtype();
  const Tensor t = with_dtype(self, call.dtype().value_or(is_exact(own) ? DType::i64 : own));
  if (dims == Sizes{1}) return csr_rows_reduced(t, product);
  if (dims == Sizes{0}) return csr_columns_reduced(t, product);
  return csr_all_reduced(t, product);
}

// With the dims that a sum has gone over as ones of size 1.
Tensor with_dims_kept(Tensor t, const Sizes& dims) {
  for (const int64_t d : dims) t = op("unsqueeze", t, d);
  return t;
}

}  // namespace

std::vector<Tensor> sparse_functions::sum_entries(SparseCall& call) {
  const Tensor self = call.tensor("self");
  if (call.overload().find_arg("dim") < 0)
    return {call.functional({{"self", parts_of(self).values}})};
  Sizes dims = reduced_dims(call, self);
  if (is_compressed(self)) return {csr_reduced(call, self, dims, false)};
  if (!call.has("dim")) dims = counting(0, self.dim());
  const DType own = self.dtype();
  const DType dtype = call.dtype().value_or(is_exact(own) ? DType::i64 : own);
  const Tensor sum = coo_sum_over(with_dtype(self, dtype), dims);
  return {call.flag("keepdim") ? with_dims_kept(sum, dims) : sum};
}

// _sparse_sum: of COO tensors, over no dims the tensor itself.
std::vector<Tensor> sparse_functions::sum_coo(SparseCall& call) {
  const Tensor self = coo_self(call);
  if (call.overload().find_arg("dim") < 0) {
    const Tensor values = parts_of(coalesced(self)).values;
    return {call.dtype() ? op("sum", values, *call.dtype()) : op("sum", values)};
  }
  const Tensor wide = with_dtype(self, call.dtype().value_or(self.dtype()));
  return {coo_sum_over(wide, reduced_dims(call, self))};
}

// An entry's gradient is that of the place which it was summed to.
std::vector<Tensor> sparse_functions::sum_gradient(SparseCall& call) {
  const Tensor grad = call.tensor("grad");
  const Tensor entries = coalesced(coo_self(call));
  const SparseParts& parts = parts_of(entries);
  const int64_t sparse = sparse_dims(entries), stored = stored_entries(entries);
  const Sizes dims = reduced_dims(call, entries);
  Sizes kept, shape{stored};
  for (int64_t d = 0; d < entries.dim(); ++d) {
    const bool reduced = std::ranges::binary_search(dims, d);
    if (d < sparse && !reduced) kept.push_back(d);
    if (d >= sparse) shape.push_back(reduced ? 1 : entries.size(d));
  }
  Sizes expected;
  for (int64_t d = 0; d < entries.dim(); ++d) {
    if (!std::ranges::binary_search(dims, d)) expected.push_back(entries.size(d));
  }
  if (!std::ranges::equal(expected, grad.sizes()))
    call.fail(fmt::format("expected grad of sizes {}, as the sum has, but got {}",
                          list_text(expected), list_text(grad.sizes())));
  const Tensor rows = Tensor::of(std::span<const int64_t>(kept),
                                 {static_cast<int64_t>(kept.size())}, entries.device());
  const Tensor places = op("index_select", parts.indices, int64_t{0}, rows);
  Tensor values;
  if (is_coo(grad)) {
    values = values_at(coalesced(grad), places);
  } else if (kept.empty()) {
    values = op("expand", op("unsqueeze", grad, int64_t{0}),
                IntList(concat({IntList{stored}, grad.sizes()})));
  } else {
    values = elements_at(grad, places);
  }
  values = op("expand", op("reshape", values, IntList(shape)), parts.values.sizes());
  return {with_values(entries, op("clone", values, MemoryFormat::contiguous))};
}

std::vector<Tensor> sparse_functions::reduce_csr(SparseCall& call) {
  const Tensor self = call.tensor("self");
  return {csr_reduced(call, self, reduced_dims(call, self), call.op() == "_sparse_csr_prod")};
}

std::vector<Tensor> sparse_functions::any_of_entries(SparseCall& call) {
  if (!call.ints("dim").empty())
    call.fail(fmt::format("expected no dims of a sparse tensor, whose elements are all looked at, "
                          "but got dim {}",
                          list_text(call.ints("dim"))),
              ErrorCode::not_implemented);
  return {call.functional({{"self", parts_of(coo_self(call)).values}})};
}

// Over all elements alone.
std::vector<Tensor> sparse_functions::norm_of_entries(SparseCall& call) {
  const Tensor self = coo_self(call);
  const Sizes dims = reduced_dims(call, self);
  if (!dims.empty() && dims != counting(0, self.dim()))
    call.fail(
        "norm_sparse currently only supports full reductions, so 'dim' must either be empty "
        "or contain all dimensions of the input");
  if (call.flag("keepdim")) call.fail("norm_sparse currently does not support keepdim=True");
  if (is_exact(call.dtype().value_or(self.dtype())))
    call.fail(
        fmt::format("norm(): input dtype should be either floating point or complex. Got {} "
                    "instead.",
                    info(self.dtype()).torch_name));
  const Scalar p = call.has("p") ? call.scalar("p") : Scalar(2);
  return {op("linalg_vector_norm", parts_of(coalesced(self)).values, p, std::nullopt, false,
             call.dtype())};
}

}  // namespace primset::runtime
