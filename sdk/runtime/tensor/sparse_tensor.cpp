#include "sdk/runtime/tensor/sparse_tensor.h"

#include <fmt/format.h>

#include "sdk/base/small_vector.h"

namespace primset::runtime {

Tensor make_sparse(SparseParts parts, std::span<const int64_t> sizes) {
  SmallVector<int64_t, kInlineRank> strides;
  strides.resize_uninitialized(sizes.size());
  for (size_t d = 0; d < sizes.size(); ++d) strides[d] = 0;
  const TensorImpl& values = *parts.values.impl();
  Tensor t(new_tensor(new_storage(values.device(), 0), values.dtype, sizes, strides.span(), 0));
  t.impl()->sparse = std::make_unique<SparseParts>(std::move(parts));
  return t;
}

Tensor make_coo_as_said(Tensor indices, Tensor values, std::span<const int64_t> sizes,
                        bool coalesced) {
  SparseParts parts;
  parts.indices = std::move(indices);
  parts.values = std::move(values);
  parts.coalesced = coalesced;
  return make_sparse(std::move(parts), sizes);
}

Tensor make_coo(Tensor indices, Tensor values, std::span<const int64_t> sizes, bool coalesced) {
  const bool in_order = coalesced || values.size(0) < 2;
  return make_coo_as_said(std::move(indices), std::move(values), sizes, in_order);
}

Tensor make_compressed(Layout layout, Tensor compressed, Tensor plain, Tensor values,
                       std::span<const int64_t> sizes) {
  SparseParts parts;
  parts.layout = layout;
  parts.compressed = std::move(compressed);
  parts.plain = std::move(plain);
  parts.values = std::move(values);
  return make_sparse(std::move(parts), sizes);
}

void become_sparse(TensorImpl& to, const TensorImpl& from) {
  if (&to == &from) return;
  to.set_geometry(from.sizes(), from.strides(), 0);
  to.sparse = std::make_unique<SparseParts>(*from.sparse);
}

Tensor sparse_on(const Tensor& t, Device device) {
  SparseParts parts = *t.impl()->sparse;
  for (Tensor* part : {&parts.indices, &parts.compressed, &parts.plain, &parts.values}) {
    if (part->defined()) *part = part->to(device);
  }
  return make_sparse(std::move(parts), t.sizes());
}

std::string sparse_text(const Tensor& t) {
  const SparseParts& parts = *t.impl()->sparse;
  const std::string_view layout = layout_name(parts.layout);
  const bool columns = parts.layout == Layout::sparse_csc || parts.layout == Layout::sparse_bsc;
  std::string text = fmt::format("{}(", layout);
  if (parts.layout == Layout::sparse_coo)
    text += fmt::format("indices={}", to_string(parts.indices));
  else
    text += fmt::format("{}={}, {}={}", columns ? "ccol_indices" : "crow_indices",
                        to_string(parts.compressed), columns ? "row_indices" : "col_indices",
                        to_string(parts.plain));
  text += fmt::format(", values={})  {}{} on {}", to_string(parts.values), name(t.dtype()),
                      list_text(t.sizes()), t.device().to_string());
  if (parts.layout == Layout::sparse_coo)
    text += parts.coalesced ? ", coalesced" : ", not coalesced";
  return text;
}

}  // namespace primset::runtime
