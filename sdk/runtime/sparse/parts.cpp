// Questions about sparse tensors and their parts: indices, values, pointers, numbers of dims.
#include "sdk/runtime/sparse/entries.h"

namespace primset::runtime {
namespace {

Tensor coo_argument(const SparseCall& call) {
  const Tensor self = call.tensor("self");
  if (!is_coo(self))
    call.fail(
        fmt::format("expected sparse coordinate tensor layout but got {}", torch_layout(self)));
  return self;
}

// The operator's name ends in _copy, or begins with _: it takes what is not coalesced too.
Tensor part(const SparseCall& call, const Tensor& t) {
  return call.op().ends_with("_copy") ? op("clone", t, MemoryFormat::contiguous) : alias_of(t);
}

const SparseParts& coalesced_parts(const SparseCall& call, const Tensor& self) {
  if (!call.op().starts_with("_") && !parts_of(self).coalesced)
    call.fail(fmt::format("Cannot get {} on an uncoalesced tensor, please call .coalesce() first",
                          call.op()));
  return parts_of(self);
}

const SparseParts& compressed_parts(const SparseCall& call, const Tensor& self, bool rows) {
  if (!is_compressed(self) || compresses_rows(self.layout()) != rows)
    call.fail(fmt::format("expected sparse {} compressed tensor layout but got {}",
                          rows ? "row" : "column", torch_layout(self)));
  return parts_of(self);
}

}  // namespace

std::vector<Tensor> sparse_functions::indices_of(SparseCall& call) {
  const Tensor self = coo_argument(call);
  return {part(call, coalesced_parts(call, self).indices)};
}

std::vector<Tensor> sparse_functions::values_of(SparseCall& call) {
  const Tensor self = call.tensor("self");
  if (is_compressed(self) && !call.op().starts_with("_"))
    return {part(call, parts_of(self).values)};
  if (!is_sparse(self))
    call.fail(fmt::format("expected sparse tensor layout but got {}", torch_layout(self)));
  return {part(call, coalesced_parts(call, coo_argument(call)).values)};
}

std::vector<Tensor> sparse_functions::row_pointers_of(SparseCall& call) {
  return {part(call, compressed_parts(call, call.tensor("self"), true).compressed)};
}

std::vector<Tensor> sparse_functions::column_indices_of(SparseCall& call) {
  return {part(call, compressed_parts(call, call.tensor("self"), true).plain)};
}

std::vector<Tensor> sparse_functions::column_pointers_of(SparseCall& call) {
  return {part(call, compressed_parts(call, call.tensor("self"), false).compressed)};
}

std::vector<Tensor> sparse_functions::row_indices_of(SparseCall& call) {
  return {part(call, compressed_parts(call, call.tensor("self"), false).plain)};
}

std::vector<Tensor> sparse_functions::count_entries(SparseCall& call) {
  const Tensor self = call.tensor("self");
  if (!is_sparse(self)) coo_argument(call);
  call.answer(stored_entries(self));
  return {};
}

std::vector<Tensor> sparse_functions::count_sparse_dims(SparseCall& call) {
  const Tensor self = call.tensor("self");
  call.answer(is_sparse(self) ? sparse_dims(self) : int64_t{0});
  return {};
}

std::vector<Tensor> sparse_functions::count_dense_dims(SparseCall& call) {
  const Tensor self = call.tensor("self");
  call.answer(is_sparse(self) ? dense_dims(self) : self.dim());
  return {};
}

std::vector<Tensor> sparse_functions::count_coo_sparse_dims(SparseCall& call) {
  call.answer(sparse_dims(coo_argument(call)));
  return {};
}

std::vector<Tensor> sparse_functions::count_coo_dense_dims(SparseCall& call) {
  call.answer(dense_dims(coo_argument(call)));
  return {};
}

std::vector<Tensor> sparse_functions::ask_coalesced(SparseCall& call) {
  call.answer(parts_of(coo_argument(call)).coalesced);
  return {};
}

// What dim, numel, size, is_complex and their kin ask is known of a sparse tensor as of any other.
std::vector<Tensor> sparse_functions::ask_geometry(SparseCall& call) {
  call.call().op.intrinsic(call.call());
  return {};
}

}  // namespace primset::runtime
