// What a sparse tensor's pattern picks out of others: sparse_mask, gradients of to_dense, and
// diagonals.
#include <algorithm>

#include "sdk/runtime/sparse/conversion.h"
#include "sdk/runtime/sparse/entries.h"

namespace primset::runtime {
namespace {

void require_mask(const SparseCall& call, const Tensor& self, const Tensor& mask) {
  if (!is_sparse(mask))
    call.fail("expected mask of a sparse layout, but got strided", ErrorCode::not_implemented);
  if (!std::ranges::equal(self.sizes(), mask.sizes()))
    call.fail(fmt::format("operands have incompatible sizes; self has size {} but mask has size {}",
                          list_text(self.sizes()), list_text(mask.sizes())));
}

// A COO tensor with more dims sparse: an entry for each element along `more` dense dims.
Tensor with_more_sparse_dims(const Tensor& coo, int64_t more) {
  Tensor indices = parts_of(coo).indices, values = parts_of(coo).values;
  for (; more > 0; --more) {
    const int64_t entries = indices.size(1), size = values.size(1);
    const Tensor own = op("repeat_interleave.self_int", indices, size, int64_t{1});
    const Tensor number = op("arange", Scalar(size), DType::i64, std::nullopt, coo.device());
    const std::vector<Tensor> rows = {
        own, op("reshape", op("repeat", number, IntList{entries}), IntList{1, entries * size})};
    indices = op("cat", rows);
    values = op("flatten.using_ints", values, int64_t{0}, int64_t{1});
  }
  return make_coo(indices, values, coo.sizes(), parts_of(coo).coalesced);
}

// What self has at the places of the mask's entries, of which a block's elements are one each.
Tensor picked(const Tensor& self, const Tensor& mask) {
  const Tensor places = to_coo(mask);
  const Tensor& indices = parts_of(places).indices;
  if (!is_sparse(self)) return elements_at(self, indices);
  Tensor source = coalesced(to_coo(self));
  const int64_t more = sparse_dims(places) - sparse_dims(source);
  if (more > 0) source = with_more_sparse_dims(source, more);
  if (more < 0) return elements_at(to_strided(source), indices);
  return values_at(source, indices);
}

// As ATen has it of two compressed tensors: the entries that both have.
Tensor common_entries(const Tensor& self, const Tensor& mask) {
  const Tensor places = to_coo(mask), source = coalesced(to_coo(self));
  const Matches matches = matching_values(source, parts_of(places).indices);
  const Tensor both = entries_at(
      make_coo(parts_of(places).indices, matches.values, self.sizes(), parts_of(places).coalesced),
      positions(matches.found));
  return coo_to_compressed(both, mask.layout());
}

}  // namespace

std::vector<Tensor> sparse_functions::pick_by_mask(SparseCall& call) {
  const Tensor self = call.tensor("self"), mask = call.tensor("mask");
  require_mask(call, self, mask);
  if (is_compressed(self) && is_compressed(mask) && !has_blocks(mask.layout()))
    return {common_entries(self, mask)};
  const Tensor values = picked(self, mask);
  if (is_coo(mask)) return {with_values(mask, values)};
  return {with_values(mask, op("reshape", values, parts_of(mask).values.sizes()))};
}

// The entries of self, zero where the mask has none; each times as many as it has there where
// matches add up.
std::vector<Tensor> sparse_functions::project_on_mask(SparseCall& call) {
  const Tensor self = coo_self(call), mask = call.tensor("mask");
  require_mask(call, self, mask);
  const Tensor ones =
      op("ones", IntList{stored_entries(mask)}, self.dtype(), std::nullopt, self.device());
  const Tensor counts = coalesced(
      make_coo(parts_of(mask).indices, ones, sparse_sizes(mask), parts_of(mask).coalesced));
  const Matches matches = matching_values(counts, parts_of(self).indices);
  Tensor values = zero_where_missing(parts_of(self).values, matches.found);
  if (call.flag("accumulate_matches"))
    values = op("mul.Tensor", values, beside_values(matches.values, values));
  return {with_values(self, values)};
}

// Of a masked gradient what the input has places for; else all of it, in the input's layout.
std::vector<Tensor> sparse_functions::dense_gradient(SparseCall& call) {
  const Tensor grad = call.tensor("grad"), input = call.tensor("input");
  if (!is_sparse(input)) return {op("to.dtype", grad, input.dtype())};
  if (call.flag("masked_grad", true))
    return {op("sparse_mask", grad, is_coo(input) ? coalesced(input) : input)};
  if (is_coo(input)) return {op("to_sparse.sparse_dim", grad, sparse_dims(input))};
  const int64_t first = batch_dims(input) + 1;
  const Tensor& values = parts_of(input).values;
  Sizes block;
  if (has_blocks(input.layout())) block = {values.size(first), values.size(first + 1)};
  const IntList given(block);
  return {op("to_sparse", grad, input.layout(), block.empty() ? Arg(std::nullopt) : Arg(given),
             dense_dims(input))};
}

// --- diagonals -----------------------------------------------------------------------------------

namespace {

Tensor at_least_1d(const Tensor& t) {
  return t.dim() == 0 ? op("reshape", t, IntList{1}) : t;
}

void require_diagonals(const SparseCall& call, const Tensor& diagonals, const Tensor& offsets) {
  if (call.tensor("diagonals").dim() > 2) call.fail("Diagonals must be vector or matrix");
  if (call.ints("shape").size() != 2) call.fail("Output shape must be 2d");
  if (call.tensor("offsets").dim() > 1) call.fail("Offsets must be scalar or vector");
  if (diagonals.size(0) != offsets.size(0))
    call.fail(fmt::format("Number of diagonals ({}) does not match the number of offsets ({})",
                          diagonals.size(0), offsets.size(0)));
  if (offsets.dtype() != DType::i64)
    call.fail(fmt::format("Offset Tensor must have dtype Long but got {}",
                          info(offsets.dtype()).torch_name));
  const Layout layout = call.layout().value_or(Layout::sparse_coo);
  if (layout != Layout::sparse_coo && layout != Layout::sparse_csr && layout != Layout::sparse_csc)
    call.fail(
        fmt::format("Only output layouts (Sparse, SparseCsc, SparseCsr) are supported, got {}",
                    layout_name(layout)));
  const std::vector<Tensor> unique = ops("_unique2", offsets, true, false, false);
  if (unique[0].size(0) != offsets.size(0)) call.fail("Offset tensor contains duplicate values");
}

}  // namespace

// Element j of a diagonal stands in column j, and in row j less the diagonal's offset.
std::vector<Tensor> sparse_functions::matrix_of_diagonals(SparseCall& call) {
  const Tensor given = call.tensor("diagonals"), offsets = at_least_1d(call.tensor("offsets"));
  if (given.dim() < 1 || given.dim() > 2)
    call.fail(fmt::format("Diagonals must be vector or matrix, but got {} dims", given.dim()));
  const Tensor diagonals =
      given.dim() < 2 ? op("reshape", given, IntList{1, given.numel()}) : given;
  require_diagonals(call, diagonals, offsets);
  const Ints shape = call.ints("shape");
  const int64_t length = std::min(diagonals.size(1), shape[1]);
  const Tensor elements = op("slice.Tensor", diagonals, int64_t{1}, int64_t{0}, length);
  const Tensor column = op("arange", Scalar(length), DType::i64, std::nullopt, diagonals.device());
  const Tensor row = op("sub.Tensor", column, op("unsqueeze", offsets, int64_t{1}));
  const Tensor inside = op("logical_and", op("ge.Scalar", row, Scalar(int64_t{0})),
                           op("lt.Scalar", row, Scalar(shape[0])));
  const std::vector<Tensor> indices = {
      op("masked_select", row, inside),
      op("masked_select", op("expand", column, row.sizes()), inside)};
  const Tensor coo =
      make_coo(op("stack", indices), op("masked_select", elements, inside), shape, false);
  const Layout layout = call.layout().value_or(Layout::sparse_coo);
  return {layout == Layout::sparse_coo ? coo : coo_to_compressed(coo, layout)};
}

}  // namespace primset::runtime
