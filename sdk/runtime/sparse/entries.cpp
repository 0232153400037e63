#include "sdk/runtime/sparse/entries.h"

#include <algorithm>
#include <numeric>

#include "sdk/runtime/sparse/conversion.h"

namespace primset::runtime {

Sizes concat(std::initializer_list<Ints> lists) {
  Sizes out;
  for (const Ints& l : lists) out.insert(out.end(), l.begin(), l.end());
  return out;
}

int64_t product(Ints sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

Sizes counting(int64_t first, int64_t count) {
  Sizes out(static_cast<size_t>(std::max<int64_t>(count, 0)));
  std::iota(out.begin(), out.end(), first);
  return out;
}

Ints sparse_sizes(const Tensor& coo) {
  return coo.sizes().first(static_cast<size_t>(sparse_dims(coo)));
}

Ints dense_sizes(const Tensor& coo) {
  return coo.sizes().subspan(static_cast<size_t>(sparse_dims(coo)));
}

int64_t wrapped_dim(int64_t dim, int64_t rank) {
  const int64_t end = std::max<int64_t>(rank, 1);
  if (dim < -end || dim >= end)
    throw Error(ErrorCode::index, fmt::format("Dimension out of range (expected to be in range of "
                                              "[{}, {}], but got {})",
                                              -end, end - 1, dim));
  return dim < 0 ? dim + end : dim;
}

Tensor coo_self(const SparseCall& call) {
  const Tensor self = call.tensor("self");
  if (!is_coo(self))
    call.fail(
        fmt::format("expected self of layout sparse_coo, but got {}", layout_name(self.layout())),
        ErrorCode::not_implemented);
  return self;
}

std::string_view torch_layout(const Tensor& t) {
  switch (t.layout()) {
    case Layout::strided:
      return "Strided";
    case Layout::sparse_coo:
      return "Sparse";
    case Layout::sparse_csr:
      return "SparseCsr";
    case Layout::sparse_csc:
      return "SparseCsc";
    case Layout::sparse_bsr:
      return "SparseBsr";
    case Layout::sparse_bsc:
      return "SparseBsc";
  }
  return "?";
}

// --- entries of a COO tensor ---------------------------------------------------------------------

Tensor indices_along(const Tensor& coo, int64_t dim) {
  return op("select.int", parts_of(coo).indices, int64_t{0}, dim);
}

Tensor entries_at(const Tensor& coo, const Tensor& at, bool ascending) {
  const SparseParts& parts = parts_of(coo);
  return make_coo(op("index_select", parts.indices, int64_t{1}, at),
                  op("index_select", parts.values, int64_t{0}, at), coo.sizes(),
                  ascending && parts.coalesced);
}

Tensor positions(const Tensor& mask) {
  return op("reshape", op("nonzero", mask), IntList{-1});
}

Tensor without_row(const Tensor& indices, int64_t dim) {
  const int64_t rows = indices.size(0);
  const std::vector<Tensor> rest = {op("slice.Tensor", indices, int64_t{0}, int64_t{0}, dim),
                                    op("slice.Tensor", indices, int64_t{0}, dim + 1, rows)};
  return op("cat", rest);
}

Tensor with_zero_row(const Tensor& indices, int64_t dim) {
  const int64_t rows = indices.size(0);
  const std::vector<Tensor> all = {op("slice.Tensor", indices, int64_t{0}, int64_t{0}, dim),
                                   op("new_zeros", indices, IntList{1, indices.size(1)}),
                                   op("slice.Tensor", indices, int64_t{0}, dim, rows)};
  return op("cat", all);
}

Lookup find_entries(const Tensor& coalesced, const Tensor& indices) {
  const Ints sizes = sparse_sizes(coalesced);
  const Tensor wanted = linear_indices(indices, sizes);
  const int64_t stored = stored_entries(coalesced);
  if (stored == 0) return {op("zeros_like", wanted), op("ne.Tensor", wanted, wanted)};
  const Tensor keys = linear_indices(parts_of(coalesced).indices, sizes);
  const Tensor first = op("searchsorted.Tensor", keys, wanted);
  const Tensor at = op("clamp_max", first, Scalar(stored - 1));
  return {at, op("eq.Tensor", op("index_select", keys, int64_t{0}, at), wanted)};
}

Matches matching_values(const Tensor& coalesced, const Tensor& indices) {
  const Tensor& values = parts_of(coalesced).values;
  const Lookup lookup = find_entries(coalesced, indices);
  if (stored_entries(coalesced) > 0)
    return {op("index_select", values, int64_t{0}, lookup.at), lookup.found};
  const Sizes none = concat({IntList{indices.size(1)}, values.sizes().subspan(1)});
  return {op("new_zeros", values, IntList(none)), lookup.found};
}

Tensor zero_where_missing(const Tensor& values, const Tensor& found) {
  const Tensor missing = op("logical_not", beside_values(found, values));
  return op("masked_fill.Scalar", values, missing, Scalar(int64_t{0}));
}

Tensor values_at(const Tensor& coalesced, const Tensor& indices) {
  const Matches matches = matching_values(coalesced, indices);
  return zero_where_missing(matches.values, matches.found);
}

Tensor elements_at(const Tensor& strided, const Tensor& indices) {
  const int64_t dims = indices.size(0);
  const Ints leading = strided.sizes().first(static_cast<size_t>(dims));
  const Ints dense = strided.sizes().subspan(static_cast<size_t>(dims));
  Tensor linear;
  for (int64_t d = 0; d < dims; ++d) {
    const int64_t size = leading[static_cast<size_t>(d)];
    if (size == 1) continue;
    const Tensor i = op("select.int", indices, int64_t{0}, d);
    linear = linear.defined() ? op("add.Tensor", op("mul.Scalar", linear, Scalar(size)), i) : i;
  }
  if (!linear.defined()) linear = op("new_zeros", indices, IntList{indices.size(1)});
  const Sizes flat = concat({IntList{product(leading)}, dense});
  return op("index_select", op("reshape", strided, IntList(flat)), int64_t{0}, linear);
}

Tensor beside_values(const Tensor& t, const Tensor& values) {
  Sizes shape(static_cast<size_t>(values.dim()), 1);
  shape[0] = t.size(0);
  return op("reshape", t, IntList(shape));
}

}  // namespace primset::runtime
