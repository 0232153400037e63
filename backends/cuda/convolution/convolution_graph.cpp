#include "backends/cuda/convolution/convolution_graph.h"

#include <span>

namespace primset_cuda {
namespace {

using primset_backend::ConvolutionKind;

// The sums that the bias is added to: they are in no memory.
constexpr int64_t kTensorSums = 5;

// Halves are added up in f32.
DnnType sums_type(DnnType type) {
  return type == DnnType::f64 ? DnnType::f64 : DnnType::f32;
}

using DnnSizes = std::array<int64_t, 5>;

std::span<const int64_t> first(const DnnSizes& values, int count) {
  return std::span(values).first(static_cast<size_t>(count));
}

struct Described {
  int64_t id;
  DnnType type;
  int rank;
  std::array<int, 5> sizes;
  bool is_virtual = false;
};

// Row-major.
CudnnDescriptor tensor_of(const CudnnApi& api, const Described& t) {
  DnnSizes sizes{}, strides{};
  int64_t step = 1;
  for (auto d = static_cast<size_t>(t.rank); d-- > 0; step *= sizes[d]) {
    sizes[d] = t.sizes[d];
    strides[d] = step;
  }
  CudnnDescriptor out(api, DnnKind::tensor);
  out.set(DnnAttribute::tensor_id, t.id)
      .set(DnnAttribute::tensor_type, t.type)
      .set(DnnAttribute::tensor_sizes, first(sizes, t.rank))
      .set(DnnAttribute::tensor_strides, first(strides, t.rank))
      .set(DnnAttribute::tensor_alignment, kConvolutionAlignment)
      .set(DnnAttribute::tensor_is_virtual, t.is_virtual)
      .finalize();
  return out;
}

CudnnDescriptor windows_of(const CudnnApi& api, const ConvolutionShape& s) {
  const int dims = s.rank - 2;
  DnnSizes padding{}, stride{}, dilation{};
  for (size_t d = 0; d < s.stride.size(); ++d) {
    padding[d] = s.padding[d];
    stride[d] = s.stride[d];
    dilation[d] = s.dilation[d];
  }
  CudnnDescriptor out(api, DnnKind::convolution);
  out.set(DnnAttribute::convolution_type, sums_type(s.type))
      .set(DnnAttribute::convolution_mode, DnnConvolutionMode::cross_correlation)
      .set(DnnAttribute::convolution_spatial_dims, int64_t{dims})
      .set(DnnAttribute::convolution_pre_paddings, first(padding, dims))
      .set(DnnAttribute::convolution_post_paddings, first(padding, dims))
      .set(DnnAttribute::convolution_strides, first(stride, dims))
      .set(DnnAttribute::convolution_dilations, first(dilation, dims))
      .finalize();
  return out;
}

// How the library calls a convolution and its gradients, and their tensors.
struct Names {
  DnnKind kind;
  DnnAttribute x, w, y, windows, alpha, beta;
};
Names names_of(ConvolutionKind kind) {
  using enum DnnAttribute;
  switch (kind) {
    case ConvolutionKind::places:
      return {DnnKind::convolution_forward, forward_x,     forward_w,   forward_y,
              forward_convolution,          forward_alpha, forward_beta};
    case ConvolutionKind::images:
      return {DnnKind::convolution_backward_data,
              backward_data_dx,
              backward_data_w,
              backward_data_dy,
              backward_data_convolution,
              backward_data_alpha,
              backward_data_beta};
    default:
      return {DnnKind::convolution_backward_filter,
              backward_filter_x,
              backward_filter_dw,
              backward_filter_dy,
              backward_filter_convolution,
              backward_filter_alpha,
              backward_filter_beta};
  }
}

// Scales have the type of the sums.
void set_scale(CudnnDescriptor& operation, DnnAttribute attribute, DnnType type, double value) {
  if (type == DnnType::f64)
    operation.set(attribute, value);
  else
    operation.set(attribute, static_cast<float>(value));
}

struct Operands {
  const CudnnDescriptor &x, &w, &y;
};

// `kept` is what remains of the result that was there.
CudnnDescriptor sums_of(const CudnnApi& api, const ConvolutionShape& s, const Operands& t,
                        double kept) {
  const Names names = names_of(s.kind);
  CudnnDescriptor out(api, names.kind);
  out.set(names.x, t.x).set(names.w, t.w).set(names.y, t.y).set(names.windows, windows_of(api, s));
  set_scale(out, names.alpha, s.type, 1);
  set_scale(out, names.beta, s.type, kept);
  out.finalize();
  return out;
}

// A number for each channel, the same at all places.
CudnnDescriptor bias_of(const CudnnApi& api, const ConvolutionShape& s) {
  return tensor_of(api, {kTensorBias, s.type, s.rank, {1, s.result()[1], 1, 1, 1}});
}

CudnnDescriptor addition_of(const CudnnApi& api, const ConvolutionShape& s,
                            const CudnnDescriptor& sums, const CudnnDescriptor& result) {
  CudnnDescriptor mode(api, DnnKind::pointwise), out(api, DnnKind::pointwise_operation);
  mode.set(DnnAttribute::pointwise_mode, DnnPointwiseMode::add)
      .set(DnnAttribute::pointwise_type, sums_type(s.type))
      .finalize();
  out.set(DnnAttribute::pointwise_operation_mode, mode)
      .set(DnnAttribute::pointwise_operation_x, sums)
      .set(DnnAttribute::pointwise_operation_b, bias_of(api, s))
      .set(DnnAttribute::pointwise_operation_y, result)
      .finalize();
  return out;
}

}  // namespace

std::vector<CudnnDescriptor> convolution_operations(const CudnnApi& api, const ConvolutionShape& s,
                                                    BiasWay bias) {
  const CudnnDescriptor x = tensor_of(api, {kTensorX, s.type, s.rank, s.x}),
                        w = tensor_of(api, {kTensorW, s.type, s.rank, s.w}),
                        y = tensor_of(api, {kTensorY, s.type, s.rank, s.y});
  std::vector<CudnnDescriptor> out;
  if (bias != BiasWay::fused) {
    out.push_back(sums_of(api, s, {x, w, y}, bias == BiasWay::laid_out ? 1 : 0));
    return out;
  }
  const CudnnDescriptor sums =
      tensor_of(api, {kTensorSums, sums_type(s.type), s.rank, s.result(), true});
  const bool of_images = s.kind == ConvolutionKind::images;
  out.push_back(sums_of(api, s, of_images ? Operands{sums, w, y} : Operands{x, w, sums}, 0));
  out.push_back(addition_of(api, s, sums, of_images ? x : y));
  return out;
}

}  // namespace primset_cuda
