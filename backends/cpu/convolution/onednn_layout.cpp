#include "backends/cpu/convolution/onednn_layout.h"

namespace primset_cpu {

using primset_backend::Convolution;
using primset_backend::ConvolutionKind;

namespace {

dnnl_data_type_t convolution_type(uint32_t dtype) {
  return dtype == PRIMSET_BF16 ? dnnl_bf16 : dnnl_f32;
}

}  // namespace

BlockShape::BlockShape(const Convolution& c, const ConvolutionCut& cut)
    : c_(c),
      images_(cut.images),
      rows_(cut.rows),
      groups_(c.groups),
      channels_(c.channels()),
      outputs_(c.outputs()) {
  if (c.groups > 1) {
    groups_ /= cut.parts;
    channels_ /= cut.parts;
    outputs_ /= cut.parts;
  } else {
    (c.kind == ConvolutionKind::images ? channels_ : outputs_) /= cut.parts;
  }
}

const primset_tensor& BlockShape::tensor(Side side) const {
  return side == Side::x ? *c_.x : side == Side::w ? *c_.w : *c_.y;
}

// Filters have their groups as a dim where the convolution has several.
BlockShape::Dims BlockShape::dims(Side side) const {
  const primset_tensor& t = tensor(side);
  Dims d;
  if (side == Side::w) {
    const int64_t outputs = outputs_ / groups_;
    if (c_.groups > 1) d.add(groups_, outputs * t.strides[0]);
    d.add(outputs, t.strides[0]);
    d.add(channels_ / groups_, t.strides[1]);
  } else {
    d.add(images_, t.strides[0]);
    d.add(side == Side::x ? channels_ : outputs_, t.strides[1]);
  }
  for (uint32_t i = 2; i < t.rank; ++i) {
    const bool cut = side != Side::w && i == 2 && rows_ < c_.x->sizes[2];
    d.add(cut ? rows_ : t.sizes[i], t.strides[i]);
  }
  return d;
}

std::optional<dnnl_memory_desc_t> BlockShape::free(const OneDnn& dnn, Side side) const {
  const Dims d = dims(side);
  const dnnl_data_type_t type =
      side == result_side(c_.kind) ? dnnl_f32 : convolution_type(c_.dtype);
  dnnl_memory_desc_t m;
  const dnnl_status_t status =
      dnn.dnnl_memory_desc_init_by_tag(&m, d.rank, d.sizes, type, dnnl_format_tag_any);
  return status == dnnl_success ? std::optional(m) : std::nullopt;
}

std::optional<dnnl_memory_desc_t> BlockShape::described(const OneDnn& dnn, const Dims& d) const {
  dnnl_memory_desc_t m;
  const dnnl_status_t status = dnn.dnnl_memory_desc_init_by_strides(
      &m, d.rank, d.sizes, convolution_type(c_.dtype), d.strides);
  return status == dnnl_success ? std::optional(m) : std::nullopt;
}

std::optional<dnnl_memory_desc_t> BlockShape::placed(const OneDnn& dnn, Side side) const {
  return described(dnn, dims(side));
}

std::optional<dnnl_memory_desc_t> BlockShape::bias_list(const OneDnn& dnn) const {
  Dims d;
  d.add(result_channels(), 1);
  return described(dnn, d);
}

std::optional<dnnl_memory_desc_t> BlockShape::bias_place(const OneDnn& dnn) const {
  Dims d;
  d.add(1, result_channels());
  d.add(result_channels(), 1);
  for (size_t i = 0; i < c_.spatial(); ++i) d.add(1, 1);
  return described(dnn, d);
}

int64_t BlockShape::part_stride(Side side) const {
  const bool of_channels = c_.groups > 1 || c_.kind == ConvolutionKind::images,
             of_outputs = c_.groups > 1 || c_.kind != ConvolutionKind::images;
  switch (side) {
    case Side::x:
      return of_channels ? channels_ * c_.x->strides[1] : 0;
    case Side::y:
      return of_outputs ? outputs_ * c_.y->strides[1] : 0;
    default:
      return of_outputs ? outputs_ * c_.w->strides[0] : channels_ * c_.w->strides[1];
  }
}

std::optional<dnnl_memory_desc_t> one_place_of(const dnnl_memory_desc_t& sums) {
  dnnl_memory_desc_t m = sums;
  dnnl_blocking_desc_t& b = m.format_desc.blocking;
  const bool by_channels = b.inner_nblks == 0 || (b.inner_nblks == 1 && b.inner_idxs[0] == 1);
  if (m.format_kind != dnnl_blocked || !by_channels) return std::nullopt;
  for (int d = 0; d < m.ndims; ++d) {
    if (d != 1) m.dims[d] = m.padded_dims[d] = 1;
    b.strides[d] = m.padded_dims[1];
  }
  b.strides[1] = b.inner_nblks == 1 ? b.inner_blks[0] : 1;
  return m;
}

}  // namespace primset_cpu
