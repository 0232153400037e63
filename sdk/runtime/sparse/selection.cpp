// Parts of sparse tensors: select, index_select, narrow_copy.
#include <algorithm>

#include "sdk/runtime/sparse/conversion.h"
#include "sdk/runtime/sparse/entries.h"

namespace primset::runtime {
namespace {

// The same entries with one dim less or of another size.
Tensor with_row(const Tensor& coo, int64_t dim, const Tensor& row, int64_t size, bool coalesced) {
  const SparseParts& parts = parts_of(coo);
  const int64_t rows = parts.indices.size(0);
  const std::vector<Tensor> all = {op("slice.Tensor", parts.indices, int64_t{0}, int64_t{0}, dim),
                                   op("unsqueeze", row, int64_t{0}),
                                   op("slice.Tensor", parts.indices, int64_t{0}, dim + 1, rows)};
  Sizes sizes = sizes_of(coo);
  sizes[static_cast<size_t>(dim)] = size;
  return make_coo(op("cat", all), parts.values, sizes, coalesced);
}

Sizes sizes_without(const Tensor& t, int64_t dim) {
  Sizes sizes = sizes_of(t);
  sizes.erase(sizes.begin() + dim);
  return sizes;
}

// Along the only sparse dim what is left is no more sparse: the sum of the entries found.
// `in_order` is whether entries that stand in order are said to, which ATen does not of a COO
// tensor's.
Tensor selected_coo(const Tensor& self, int64_t dim, int64_t index, bool in_order) {
  const int64_t sparse = sparse_dims(self);
  const SparseParts& parts = parts_of(self);
  if (dim >= sparse)
    return make_coo(parts.indices, op("select.int", parts.values, dim - sparse + 1, index),
                    sizes_without(self, dim), in_order);
  const Tensor found = op("eq.Scalar", indices_along(self, dim), Scalar(index));
  const Tensor kept = entries_at(self, positions(found));
  const Tensor& values = parts_of(kept).values;
  if (sparse == 1)
    return values.dtype() == DType::boolean
               ? op("any.dim", values, int64_t{0})
               : op("sum.dim_IntList", values, IntList{0}, false, values.dtype());
  return make_coo(without_row(parts_of(kept).indices, dim), values, sizes_without(self, dim),
                  in_order);
}

// A row of a CSR matrix, or a column of a CSC one, whose values are a piece of its own.
Tensor selected_line(const Tensor& self, int64_t dim, int64_t index) {
  const SparseParts& parts = parts_of(self);
  const int64_t begin = integer_in(op("select.int", parts.compressed, int64_t{0}, index)),
                end = integer_in(op("select.int", parts.compressed, int64_t{0}, index + 1));
  const auto piece = [&](const Tensor& part) {
    return op("slice.Tensor", part, int64_t{0}, begin, end);
  };
  const Tensor indices =
      op("unsqueeze", op("to.dtype", piece(parts.plain), DType::i64), int64_t{0});
  return make_coo(indices, piece(parts.values), sizes_without(self, dim), true);
}

// A matrix of a batch keeps the layout.
Tensor selected_of_batch(const Tensor& self, int64_t dim, int64_t index) {
  SparseParts parts = parts_of(self);
  for (Tensor* part : {&parts.compressed, &parts.plain, &parts.values})
    *part = op("select.int", *part, dim, index);
  return make_sparse(std::move(parts), sizes_without(self, dim));
}

// Where a new index goes: for each of `index` the entries whose index along the dim is the same.
// Entries sorted along the dim stand in runs, and binary searches find where each begins and ends.
Tensor selected_by_index(const Tensor& self, int64_t dim, const Tensor& index) {
  const Tensor along = indices_along(self, dim);
  const std::vector<Tensor> sorted = ops("sort.stable", along, true);
  const Tensor first = op("searchsorted.Tensor", sorted[0], index),
               last = op("searchsorted.Tensor", sorted[0], index, false, true);
  const Tensor counts = op("sub.Tensor", last, first);
  const Tensor which = op("repeat_interleave.Tensor", counts);
  const Tensor ends = op("cumsum", counts, int64_t{0});
  const Tensor number =
      op("arange", Scalar(which.size(0)), DType::i64, std::nullopt, self.device());
  // Of the i-th result: where its run begins in the sorted entries, and how far in it stands.
  const Tensor shift = op("index_select", op("add.Tensor", op("sub.Tensor", first, ends), counts),
                          int64_t{0}, which);
  const Tensor at = op("index_select", sorted[1], int64_t{0}, op("add.Tensor", shift, number));
  return with_row(entries_at(self, at, false), dim, which, index.size(0), false);
}

void require_index(const SparseCall& call, const Tensor& self, int64_t dim, const Tensor& index) {
  if (is_sparse(index) || index.dim() != 1 || index.dtype() != DType::i64)
    call.fail("argument index must be 1-D strided (non-sparse) long-tensor.", ErrorCode::index);
  if (index.numel() == 0 || dim >= sparse_dims(self)) return;
  const int64_t size = self.size(dim);
  const int64_t least = integer_in(op("amin", index)), greatest = integer_in(op("amax", index));
  for (const int64_t i : {least, greatest}) {
    if (i < -size || i >= size)
      call.fail(fmt::format("index contains {} that is out of range for tensor of size {} at "
                            "dimension {}",
                            i, list_text(self.sizes()), dim),
                ErrorCode::index);
  }
}

}  // namespace

std::vector<Tensor> sparse_functions::select_entries(SparseCall& call) {
  const Tensor self = call.tensor("self");
  if (self.dim() == 0) call.fail("select() cannot be applied to a 0-dim tensor.", ErrorCode::index);
  const int64_t dim = wrapped_dim(call.integer("dim"), self.dim()), size = self.size(dim);
  int64_t index = call.integer("index");
  if (index < -size || index >= size)
    call.fail(fmt::format("index {} out of range for tensor of size {} at dimension {}", index,
                          list_text(self.sizes()), dim),
              ErrorCode::index);
  if (index < 0) index += size;
  if (is_compressed(self) && dim < batch_dims(self)) return {selected_of_batch(self, dim, index)};
  if (is_coo(self)) return {selected_coo(self, dim, index, false)};
  const int64_t lines = compresses_rows(self.layout()) ? 0 : 1;
  if (batch_dims(self) == 0 && !has_blocks(self.layout()) && dim == lines)
    return {selected_line(self, dim, index)};
  return {selected_coo(coalesced(to_coo(self)), dim, index, true)};
}

std::vector<Tensor> sparse_functions::select_by_index(SparseCall& call) {
  const Tensor self = coo_self(call), index = call.tensor("index");
  if (self.dim() == 0)
    call.fail("index_select() cannot be applied to a 0-dim tensor.", ErrorCode::index);
  const int64_t dim = wrapped_dim(call.integer("dim"), self.dim()), sparse = sparse_dims(self);
  require_index(call, self, dim, index);
  if (dim >= sparse) {
    const Tensor values = op("index_select", parts_of(self).values, dim - sparse + 1, index);
    Sizes sizes = sizes_of(self);
    sizes[static_cast<size_t>(dim)] = index.size(0);
    return {make_coo(parts_of(self).indices, values, sizes, false)};
  }
  const Tensor wrapped =
      op("remainder.Scalar", index, Scalar(std::max<int64_t>(self.size(dim), 1)));
  return {selected_by_index(self, dim, wrapped)};
}

std::vector<Tensor> sparse_functions::narrow_entries(SparseCall& call) {
  const Tensor self = coo_self(call);
  const int64_t dim = wrapped_dim(call.integer("dim"), self.dim()), size = self.size(dim);
  const int64_t given = call.integer("start"), length = call.integer("length");
  const int64_t start = given < 0 ? given + size : given, sparse = sparse_dims(self);
  if (length < 0 || start < 0 || start + length > size)
    call.fail(
        fmt::format("Invalid range to narrow. range(start, start+length) = range({}, {}) must "
                    "be a subset of range(0, {}).",
                    start, start + length, size));
  if (dim >= sparse)
    return {with_values(self,
                        op("narrow_copy", parts_of(self).values, dim - sparse + 1, start, length))};
  const Tensor along = indices_along(self, dim);
  const Tensor inside = op("logical_and", op("ge.Scalar", along, Scalar(start)),
                           op("lt.Scalar", along, Scalar(start + length)));
  const Tensor kept = entries_at(self, positions(inside));
  const Tensor row = op("sub.Scalar", indices_along(kept, dim), Scalar(start));
  return {with_row(kept, dim, row, length, parts_of(self).coalesced)};
}

}  // namespace primset::runtime
