// Dims in another order, and dims of size 1 more and less. No entry changes its place among the
// stored ones.
#include <algorithm>
#include <numeric>

#include "sdk/runtime/sparse/entries.h"

namespace primset::runtime {
namespace {

Tensor rows_in_order(const Tensor& indices, Ints order) {
  const Tensor at = Tensor::of(order, {static_cast<int64_t>(order.size())}, indices.device());
  return op("index_select", indices, int64_t{0}, at);
}

// Sparse dims change places among themselves, and dense ones. `make` is make_coo or another that
// knows better whether so few entries as one are to be called coalesced.
Tensor permuted_coo(const SparseCall& call, const Tensor& self, const Sizes& dims,
                    decltype(make_coo)& make) {
  const int64_t sparse = sparse_dims(self), rank = self.dim();
  const auto split = dims.begin() + sparse;
  if (std::any_of(dims.begin(), split, [&](int64_t d) { return d >= sparse; }))
    call.fail(
        "permute(sparse_coo): transpositions between sparse and dense dimensions are not "
        "allowed. Only transpositions within sparse and dense dimensions are supported.");
  const Sizes order(dims.begin(), split), identity = counting(0, sparse);
  const SparseParts& parts = parts_of(self);
  Tensor values = parts.values;
  if (rank > sparse) {
    Sizes of_values{0};
    for (auto d = split; d != dims.end(); ++d) of_values.push_back(*d - sparse + 1);
    values = op("permute", values, IntList(of_values));
  }
  Sizes sizes;
  for (const int64_t d : dims) sizes.push_back(self.size(d));
  const bool kept = order == identity;
  return make(kept ? parts.indices : rows_in_order(parts.indices, order), values, sizes,
              kept && parts.coalesced);
}

Layout transposed_layout(Layout layout) {
  switch (layout) {
    case Layout::sparse_csr:
      return Layout::sparse_csc;
    case Layout::sparse_csc:
      return Layout::sparse_csr;
    case Layout::sparse_bsr:
      return Layout::sparse_bsc;
    default:
      return Layout::sparse_bsr;
  }
}

// What is compressed over rows is the transpose compressed over columns, of the same parts. Batch
// dims change places in all parts, dense ones in the values.
Tensor transposed_compressed(const SparseCall& call, const Tensor& self, int64_t a, int64_t b) {
  constexpr const char* kKinds[] = {"Batch", "Sparse", "Dense"};
  const int64_t batch = batch_dims(self);
  const auto kind = [&](int64_t d) { return d < batch ? 0 : d < batch + 2 ? 1 : 2; };
  if (kind(a) != kind(b))
    call.fail(
        fmt::format("can only transpose dimensions of the same type (Batch, Sparse, Dense), "
                    "got {}({}) and {}({})",
                    a, kKinds[kind(a)], b, kKinds[kind(b)]));
  SparseParts parts = parts_of(self);
  Sizes sizes = sizes_of(self);
  std::swap(sizes[static_cast<size_t>(a)], sizes[static_cast<size_t>(b)]);
  const int64_t blocks = has_blocks(parts.layout) ? 2 : 0;
  const auto swapped = [](const Tensor& t, int64_t x, int64_t y) {
    return op("transpose.int", t, x, y);
  };
  if (kind(a) == 0) {
    parts.compressed = swapped(parts.compressed, a, b);
    parts.plain = swapped(parts.plain, a, b);
    parts.values = swapped(parts.values, a, b);
  } else if (kind(a) == 1) {
    if (blocks > 0) parts.values = swapped(parts.values, batch + 1, batch + 2);
    parts.layout = transposed_layout(parts.layout);
  } else {
    parts.values = swapped(parts.values, a - 1 + blocks, b - 1 + blocks);
  }
  return make_sparse(std::move(parts), sizes);
}

Tensor alias_of_sparse(const Tensor& t) {
  return make_sparse(parts_of(t), t.sizes());
}

Tensor transposed(const SparseCall& call, const Tensor& self, int64_t a, int64_t b) {
  if (is_compressed(self) && call.in_place())
    call.fail(fmt::format("torch.transpose_: in-place transposition is not supported for {} layout",
                          torch_layout(self)));
  if (a == b) return alias_of_sparse(self);
  if (is_compressed(self)) return transposed_compressed(call, self, a, b);
  Sizes dims = counting(0, self.dim());
  std::swap(dims[static_cast<size_t>(a)], dims[static_cast<size_t>(b)]);
  return permuted_coo(call, self, dims, make_coo);
}

// As in ATen the transpose of a COO tensor is of entries of its own, but in place.
Tensor with_own_entries(const SparseCall& call, const Tensor& self, const Tensor& made) {
  return is_coo(self) && !call.in_place() ? op("clone", made) : made;
}

Sizes permutation(const SparseCall& call, const Tensor& self, Ints given) {
  const int64_t rank = self.dim();
  if (static_cast<int64_t>(given.size()) != rank)
    call.fail(
        fmt::format("permute(sparse_coo): number of dimensions in the tensor input does not "
                    "match the length of the desired ordering of dimensions i.e. input.dim() "
                    "= {} is not equal to len(dims) = {}",
                    rank, given.size()));
  Sizes dims;
  for (const int64_t d : given) dims.push_back(wrapped_dim(d, rank));
  Sizes sorted = dims;
  std::ranges::sort(sorted);
  if (sorted != counting(0, rank))
    call.fail("permute(sparse_coo): duplicate dims are not allowed.");
  return dims;
}

// Without one dim of size 1.
Tensor squeezed(const Tensor& coo, int64_t dim) {
  const int64_t sparse = sparse_dims(coo);
  const SparseParts& parts = parts_of(coo);
  Sizes sizes = sizes_of(coo);
  sizes.erase(sizes.begin() + dim);
  if (dim < sparse)
    return make_coo(without_row(parts.indices, dim), parts.values, sizes, parts.coalesced);
  return make_coo(parts.indices, op("squeeze.dim", parts.values, dim - sparse + 1), sizes,
                  parts.coalesced);
}

}  // namespace

std::vector<Tensor> sparse_functions::permute_dims(SparseCall& call) {
  const Tensor self = call.tensor("self");
  const Sizes dims = permutation(call, self, call.ints("dims"));
  if (is_coo(self)) return {permuted_coo(call, self, dims, make_coo_as_said)};
  // Of a compressed tensor one pair of dims at a time.
  Tensor out = self;
  Sizes now = counting(0, self.dim());
  for (size_t d = 0; d < dims.size(); ++d) {
    const auto at = static_cast<int64_t>(std::ranges::find(now, dims[d]) - now.begin());
    out = transposed(call, out, static_cast<int64_t>(d), at);
    std::swap(now[d], now[static_cast<size_t>(at)]);
  }
  return {out};
}

std::vector<Tensor> sparse_functions::transpose_dims(SparseCall& call) {
  const Tensor self = call.tensor("self");
  const int64_t rank = self.dim();
  const bool axes = call.has("axis0");
  return {with_own_entries(
      call, self,
      transposed(call, self, wrapped_dim(call.integer(axes ? "axis0" : "dim0"), rank),
                 wrapped_dim(call.integer(axes ? "axis1" : "dim1"), rank)))};
}

// t, and the transpose of matrices of a batch.
std::vector<Tensor> sparse_functions::transpose_matrix(SparseCall& call) {
  const Tensor self = call.tensor("self");
  const int64_t rank = self.dim();
  if (call.op().starts_with("t") && rank > 2)
    call.fail(
        fmt::format("expects a tensor with <= 2 sparse and 0 dense dimensions, but self is "
                    "{}D",
                    rank));
  return {rank < 2 ? alias_of_sparse(self)
                   : with_own_entries(call, self, transposed(call, self, rank - 2, rank - 1))};
}

std::vector<Tensor> sparse_functions::unsqueeze_dim(SparseCall& call) {
  const Tensor self = coo_self(call);
  const int64_t sparse = sparse_dims(self), dim = wrapped_dim(call.integer("dim"), self.dim() + 1);
  const SparseParts& parts = parts_of(self);
  Sizes sizes = sizes_of(self);
  sizes.insert(sizes.begin() + dim, 1);
  if (dim <= sparse)
    return {make_coo(with_zero_row(parts.indices, dim), parts.values, sizes, false)};
  return {make_coo(parts.indices, op("unsqueeze", parts.values, dim - sparse + 1), sizes, false)};
}

std::vector<Tensor> sparse_functions::squeeze_dims(SparseCall& call) {
  Tensor self = coo_self(call);
  const int64_t rank = self.dim();
  std::vector<bool> goes(static_cast<size_t>(rank), !call.has("dim"));
  const Ints list = call.ints("dim");
  if (call.arg("dim").kind == Arg::Kind::integer && rank > 0)
    goes[static_cast<size_t>(wrapped_dim(call.integer("dim"), rank))] = true;
  for (const int64_t d : list) goes[static_cast<size_t>(wrapped_dim(d, rank))] = true;
  for (int64_t d = rank; d-- > 0;) {
    if (goes[static_cast<size_t>(d)] && self.size(d) == 1) self = squeezed(self, d);
  }
  return {self.impl() == call.tensor("self").impl() ? alias_of_sparse(self) : self};
}

// view_as_real, view_as_complex, real and imag: of the values, whose last dim may come or go.
std::vector<Tensor> sparse_functions::view_values(SparseCall& call) {
  const Tensor self = call.tensor("self");
  const SparseParts& parts = parts_of(self);
  const bool whole = call.op().starts_with("view_as");
  if (whole) coo_self(call);
  if (call.op() == "view_as_complex" && dense_dims(self) == 0)
    call.fail("expected a dense last dim of size 2, but self has no dense dims");
  return {with_values(self, call.functional({{"self", parts.values}}))};
}

}  // namespace primset::runtime
