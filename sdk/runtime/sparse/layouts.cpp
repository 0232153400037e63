// to_sparse, to_dense, coalesce and their kin: the operators that change the layout.
#include <algorithm>

#include "sdk/runtime/sparse/conversion.h"
#include "sdk/runtime/sparse/entries.h"

namespace primset::runtime {
namespace {

Tensor with_dtype(const SparseCall& call, const Tensor& self) {
  const std::optional<DType> dtype = call.dtype();
  if (!dtype || *dtype == self.dtype()) return self;
  if (is_sparse(self)) call.fail("dtype argument is not supported by sparse_to_dense");
  return op("to.dtype", self, *dtype);
}

Layout wanted_layout(const SparseCall& call) {
  const std::optional<Layout> named = layout_in_name(call.op());
  return named ? *named : call.layout().value_or(Layout::sparse_coo);
}

Tensor to_sparse_coo(const SparseCall& call, const Tensor& self) {
  if (is_sparse(self)) {
    const int64_t wanted = call.integer("sparse_dim", sparse_dims(self));
    if (wanted != sparse_dims(self))
      call.fail(
          fmt::format("conversion from {} to sparse_coo with sparse_dim argument {} is not "
                      "supported; expected its own, {}",
                      layout_name(self.layout()), wanted, sparse_dims(self)));
    return to_coo(self);
  }
  const int64_t rank = self.dim(),
                sparse = call.integer("sparse_dim", rank - call.integer("dense_dim"));
  if (sparse < (rank > 0 ? 1 : 0))
    call.fail(
        fmt::format("sparse_dim argument must be in >0 when self.dim()>0, but got {}", sparse));
  if (sparse > rank)
    call.fail(
        fmt::format("sparse_dim argument must be less than or equal to self.dim() ({}), but "
                    "got {}",
                    rank, sparse));
  return dense_to_coo(self, sparse);
}

void require_compressible(const SparseCall& call, const Tensor& self, Layout layout,
                          int64_t dense) {
  if (dense < 0 || self.dim() - dense < 2)
    call.fail(fmt::format("Only tensors with two or more dimensions besides {} dense ones can be "
                          "converted to layout {}, but got {} dims",
                          dense, layout_name(layout), self.dim()),
              ErrorCode::runtime);
  if (is_sparse(self) && has_blocks(self.layout()) && !has_blocks(layout))
    call.fail(fmt::format("expected a tensor without blocks to convert to layout {}, but got {}",
                          layout_name(layout), layout_name(self.layout())));
  if (call.ints("blocksize").size() != (has_blocks(layout) ? 2u : 0u))
    call.fail(fmt::format("blocksize needs to be a tuple of size {} for layout {}, but got {}",
                          has_blocks(layout) ? 2 : 0, layout_name(layout),
                          list_text(call.ints("blocksize"))));
}

Tensor to_compressed(const SparseCall& call, const Tensor& self, Layout layout) {
  const bool same_blocks =
      self.layout() == layout && std::ranges::equal(block_of(self), call.ints("blocksize"));
  if (same_blocks) return self;
  const int64_t dense = is_sparse(self) ? dense_dims(self) : call.integer("dense_dim");
  require_compressible(call, self, layout, dense);
  const Ints batches = self.sizes().first(static_cast<size_t>(self.dim() - dense - 2));
  if (!is_sparse(self) && product(batches) == 0)
    call.fail(fmt::format("Expected product of batch dimensions to be non-zero, but got {}",
                          list_text(batches)));
  if (!is_sparse(self))
    return dense_to_compressed(self, layout, call.ints("blocksize"),
                               static_cast<int64_t>(batches.size()));
  return coo_to_compressed(to_coo(self), layout, call.ints("blocksize"));
}

}  // namespace

std::vector<Tensor> sparse_functions::to_sparse(SparseCall& call) {
  const Tensor self = call.tensor("self");
  const Layout layout = wanted_layout(call);
  if (layout == Layout::strided) return {to_strided(self)};
  if (layout == Layout::sparse_coo) return {to_sparse_coo(call, self)};
  return {to_compressed(call, self, layout)};
}

std::vector<Tensor> sparse_functions::to_dense(SparseCall& call) {
  const Tensor self = with_dtype(call, call.tensor("self"));
  return {to_strided(self)};
}

std::vector<Tensor> sparse_functions::coalesce(SparseCall& call) {
  const Tensor self = call.tensor("self");
  if (!is_coo(self))
    call.fail(fmt::format("expected sparse coordinate tensor layout but got {}",
                          layout_name(self.layout())));
  return {coalesced(self)};
}

// _coalesced: what the caller says of the indices.
std::vector<Tensor> sparse_functions::mark_coalesced(SparseCall& call) {
  const Tensor self = call.tensor("self");
  if (!is_coo(self))
    call.fail(fmt::format("expected sparse coordinate tensor layout but got {}",
                          layout_name(self.layout())));
  SparseParts parts = parts_of(self);
  parts.coalesced = call.flag("coalesced");
  return {make_sparse(std::move(parts), self.sizes())};
}

}  // namespace primset::runtime
