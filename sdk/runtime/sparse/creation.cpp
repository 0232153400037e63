// Sparse tensors of given sizes, or of another's, without a pattern of the caller's: zeros, empty
// and their kin.
#include "sdk/runtime/sparse/conversion.h"
#include "sdk/runtime/sparse/entries.h"

namespace primset::runtime {
namespace {

struct Wanted {
  Layout layout;
  Sizes sizes;
  DType dtype;
  Device device;
};

// What the call names, and what self has of the rest.
Wanted wanted(const SparseCall& call) {
  Tensor model = call.tensor("self");
  if (!model.defined()) model = call.tensor("out");
  Wanted w{Layout::strided, {}, DType::f32, call.device(model)};
  w.layout = call.layout().value_or(model.defined() ? model.layout() : Layout::strided);
  w.dtype = call.dtype().value_or(model.defined() ? model.dtype() : DType::f32);
  const Ints given = call.has("size") ? call.ints("size") : model.sizes();
  w.sizes.assign(given.begin(), given.end());
  return w;
}

// The sparse and dense dims of self, and its blocks, where the sizes are its own; else all dims are
// sparse.
Tensor without_entries(const SparseCall& call, const Wanted& w) {
  const Tensor self = call.tensor("self");
  const auto rank = static_cast<int64_t>(w.sizes.size());
  if (w.layout == Layout::sparse_coo) {
    const int64_t dense = !call.has("size") && is_coo(self) ? dense_dims(self) : 0;
    return op("_sparse_coo_tensor_with_dims", rank - dense, dense, IntList(w.sizes), w.dtype,
              std::nullopt, w.device);
  }
  const bool own = !call.has("size") && is_compressed(self);
  const Sizes block = own && has_blocks(w.layout) ? block_of(self) : Sizes();
  if (has_blocks(w.layout) && block.empty())
    call.fail(fmt::format("expected sparse compressed (non-block) tensor layout but got {}",
                          layout_name(w.layout)));
  return op("_sparse_compressed_tensor_with_dims", int64_t{0}, own ? dense_dims(self) : int64_t{0},
            IntList(w.sizes), IntList(block), DType::i64, w.dtype, w.layout, w.device);
}

bool of_own_pattern(const SparseCall& call, const Wanted& w) {
  const Tensor self = call.tensor("self");
  return !call.has("size") && is_compressed(self) && self.layout() == w.layout;
}

// A compressed tensor without entries where self has some.
Tensor cleared(const Tensor& self, const Wanted& w) {
  SparseParts parts = parts_of(self);
  const int64_t batch = batch_dims(self);
  const auto none = [&](const Tensor& part) {
    return op("clone", op("slice.Tensor", part, batch, int64_t{0}, int64_t{0}));
  };
  parts.compressed = op("zeros_like", parts.compressed);
  parts.plain = none(parts.plain);
  parts.values = op("to.dtype", none(parts.values), w.dtype);
  return make_sparse(std::move(parts), self.sizes()).to(w.device);
}

}  // namespace

std::vector<Tensor> sparse_functions::zeros_of_layout(SparseCall& call) {
  const Wanted w = wanted(call);
  if (w.layout == Layout::strided)
    return {op("zeros", IntList(w.sizes), w.dtype, std::nullopt, w.device)};
  if (of_own_pattern(call, w)) return {cleared(call.tensor("self"), w)};
  return {without_entries(call, w)};
}

// Of a compressed tensor the pattern is that of self.
std::vector<Tensor> sparse_functions::empty_of_layout(SparseCall& call) {
  const Wanted w = wanted(call);
  if (w.layout == Layout::strided)
    return {op("empty.memory_format", IntList(w.sizes), w.dtype, std::nullopt, w.device)};
  if (!of_own_pattern(call, w)) return {without_entries(call, w)};
  const Tensor self = op("clone", call.tensor("self"));
  const Tensor values = op("empty_like", parts_of(self).values, w.dtype);
  return {with_values(self, values).to(w.device)};
}

// ones_like and full_like: the values of a compressed tensor's pattern.
std::vector<Tensor> sparse_functions::full_of_pattern(SparseCall& call) {
  const Wanted w = wanted(call);
  const Tensor self = call.tensor("self");
  const Scalar value = call.has("fill_value") ? call.scalar("fill_value") : Scalar(int64_t{1});
  if (w.layout == Layout::strided)
    return {op("full", IntList(w.sizes), value, w.dtype, std::nullopt, w.device)};
  if (!of_own_pattern(call, w))
    call.fail(fmt::format("expected the compressed layout of self, whose stored values are filled, "
                          "but got {}",
                          layout_name(w.layout)),
              ErrorCode::not_implemented);
  const Tensor values = op("full_like", parts_of(self).values, value, w.dtype);
  return {with_values(op("clone", self), values).to(w.device)};
}

// randn_like: as many numbers as the pattern has values.
std::vector<Tensor> sparse_functions::draw_values(SparseCall& call) {
  const Wanted w = wanted(call);
  const Tensor self = call.tensor("self");
  if (!of_own_pattern(call, w))
    call.fail(fmt::format("expected the compressed layout of self, whose stored values are drawn, "
                          "but got {}",
                          layout_name(w.layout)),
              ErrorCode::not_implemented);
  const Tensor values = op("empty_like", parts_of(self).values, w.dtype, std::nullopt, w.device);
  op("normal_", values, 0.0, 1.0, call.arg("generator"));
  return {with_values(op("clone", self).to(w.device), values)};
}

}  // namespace primset::runtime
