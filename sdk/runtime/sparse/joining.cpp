// Several sparse tensors as one, and one as if it stood several times: cat, stack and
// _sparse_broadcast_to.
#include <algorithm>

#include "sdk/runtime/sparse/entries.h"

namespace primset::runtime {
namespace {

void require_alike(const SparseCall& call, const std::vector<Tensor>& tensors, int64_t dim) {
  const Tensor& first = tensors[0];
  for (size_t k = 0; k < tensors.size(); ++k) {
    const Tensor& t = tensors[k];
    if (!is_coo(t))
      call.fail(
          fmt::format("Concatenating sparse tensors, but a {} tensor was found at position {}.",
                      is_sparse(t) ? layout_name(t.layout()) : "dense", k));
    if (sparse_dims(t) != sparse_dims(first) || dense_dims(t) != dense_dims(first))
      call.fail(
          fmt::format("All tensors must have the same sparse_dim and dense_dim: {}, {}, but "
                      "tensor at position {} has {}, {}.",
                      sparse_dims(first), dense_dims(first), k, sparse_dims(t), dense_dims(t)));
    for (int64_t d = 0; d < t.dim(); ++d) {
      if (d != dim && t.size(d) != first.size(d))
        call.fail(
            fmt::format("All tensors must have the same shape: {} (except in the "
                        "concatenating dimension), but found shape: {} at position {}.",
                        list_text(first.sizes()), list_text(t.sizes()), k));
    }
  }
}

// The indices along `dim` moved by `offset`.
Tensor moved(const Tensor& indices, int64_t dim, int64_t offset) {
  if (offset == 0) return indices;
  Sizes offsets(static_cast<size_t>(indices.size(0)), 0);
  offsets[static_cast<size_t>(dim)] = offset;
  const Tensor column =
      Tensor::of(std::span<const int64_t>(offsets), {indices.size(0), 1}, indices.device());
  return op("add.Tensor", indices, column);
}

// The values of a tensor that stands at `offset` of `total` along a dense dim, zero elsewhere.
Tensor padded(const Tensor& values, int64_t dim, int64_t offset, int64_t total) {
  Sizes pad;
  for (int64_t d = values.dim(); d-- > dim + 1;) pad.insert(pad.end(), {0, 0});
  pad.insert(pad.end(), {offset, total - offset - values.size(dim)});
  return op("constant_pad_nd", values, IntList(pad));
}

Tensor joined(const SparseCall& call, const std::vector<Tensor>& tensors, int64_t dim) {
  require_alike(call, tensors, dim);
  const int64_t sparse = sparse_dims(tensors[0]);
  Sizes sizes = sizes_of(tensors[0]);
  int64_t total = 0;
  for (const Tensor& t : tensors) total += t.size(dim);
  sizes[static_cast<size_t>(dim)] = total;
  std::vector<Tensor> indices, values;
  int64_t offset = 0;
  for (const Tensor& t : tensors) {
    const SparseParts& parts = parts_of(t);
    indices.push_back(dim < sparse ? moved(parts.indices, dim, offset) : parts.indices);
    values.push_back(dim < sparse ? parts.values
                                  : padded(parts.values, dim - sparse + 1, offset, total));
    offset += t.size(dim);
  }
  return make_coo(op("cat", indices, int64_t{1}), op("cat", values), sizes, false);
}

// How a tensor's sparse dims stand to wider sizes: which of them repeat each entry, how often.
struct Widening {
  Sizes repeated;  // sizes of the dims that do, of which the first is the outermost
  Sizes dims;      // which of the result's they are
};

void require_broadcastable(const SparseCall& call, Ints from, Ints to) {
  if (to.size() < from.size())
    call.fail(fmt::format("The requested size {} has fewer dims than the input's {}", list_text(to),
                          list_text(from)));
  for (size_t d = 0; d < from.size(); ++d) {
    const size_t at = to.size() - from.size() + d;
    if (from[d] != 1 && from[d] != to[at])
      call.fail(
          fmt::format("The input's length {} at dimension {} does not broadcast over the "
                      "requested shape of length {} at dimension {}",
                      from[d], d, to[at], at));
  }
}

// Indices [dims, entries] of every entry at every place of the dims that repeat it, entry by entry.
Tensor widened_indices(const Tensor& indices, int64_t added, const Widening& w) {
  const int64_t entries = indices.size(1), times = product(w.repeated);
  std::vector<Tensor> rows;
  int64_t below = times;
  for (int64_t d = 0; d < added + indices.size(0); ++d) {
    const auto found = std::ranges::find(w.dims, d);
    if (found == w.dims.end()) {
      const Tensor own = op("select.int", indices, int64_t{0}, d - added);
      rows.push_back(op("expand", op("unsqueeze", own, int64_t{1}), IntList{entries, times}));
      continue;
    }
    const int64_t size = w.repeated[static_cast<size_t>(found - w.dims.begin())];
    below = size > 0 ? below / size : 0;
    const Tensor number = op("arange", Scalar(times), DType::i64, std::nullopt, indices.device());
    const Tensor place = op("remainder.Scalar",
                            op("div.Scalar_mode", number, Scalar(std::max<int64_t>(below, 1)),
                               std::string_view("floor")),
                            Scalar(std::max<int64_t>(size, 1)));
    rows.push_back(op("expand", op("unsqueeze", place, int64_t{0}), IntList{entries, times}));
  }
  return op("reshape", op("stack", rows), IntList{added + indices.size(0), entries * times});
}

Tensor widened(const Tensor& self, Ints to) {
  const int64_t sparse = sparse_dims(self), added = static_cast<int64_t>(to.size()) - self.dim();
  Widening w;
  int64_t first_repeated = static_cast<int64_t>(to.size()), last_kept = -1;
  for (int64_t d = 0; d < added + sparse; ++d) {
    const int64_t wide = to[static_cast<size_t>(d)];
    const bool repeats = d < added || self.size(d - added) != wide;
    if (!repeats) {
      last_kept = d;
      continue;
    }
    first_repeated = std::min(first_repeated, d);
    w.dims.push_back(d), w.repeated.push_back(wide);
  }
  const SparseParts& parts = parts_of(self);
  const int64_t entries = stored_entries(self), times = product(w.repeated);
  const Ints dense = to.subspan(static_cast<size_t>(added + sparse));
  Tensor indices = parts.indices;
  if (!w.dims.empty()) indices = widened_indices(parts.indices, added, w);
  const Sizes wide = concat({IntList{entries, times}, dense});
  const Sizes flat = concat({IntList{entries * times}, dense});
  const Tensor values = op("expand", op("unsqueeze", parts.values, int64_t{1}), IntList(wide));
  return make_coo_as_said(indices, op("reshape", values, IntList(flat)), to,
                          parts.coalesced && last_kept < first_repeated);
}

}  // namespace

std::vector<Tensor> sparse_functions::concatenate_entries(SparseCall& call) {
  const std::vector<Tensor> tensors = call.tensors("tensors");
  return {joined(call, tensors, wrapped_dim(call.integer("dim"), tensors[0].dim()))};
}

std::vector<Tensor> sparse_functions::stack_entries(SparseCall& call) {
  std::vector<Tensor> tensors = call.tensors("tensors");
  const int64_t dim = wrapped_dim(call.integer("dim"), tensors[0].dim() + 1);
  require_alike(call, tensors, -1);
  for (Tensor& t : tensors) t = op("unsqueeze", t, dim);
  return {joined(call, tensors, dim)};
}

std::vector<Tensor> sparse_functions::broadcast_entries(SparseCall& call) {
  const Tensor self = coo_self(call);
  const Ints to = call.ints("size");
  require_broadcastable(call, self.sizes(), to);
  if (std::ranges::equal(self.sizes(), to)) return {self};
  return {widened(self, to)};
}

}  // namespace primset::runtime
