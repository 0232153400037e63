// Gradients of convolutions, and convolutions by other names.
#include <fmt/format.h>

#include "decomps/engine/engine.h"
#include "decomps/operators/convolution.h"
#include "decomps/operators/convolution/geometry.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

using Dims = std::vector<int64_t>;

std::vector<prims::Attr> windows_of(const ConvolutionGeometry& g, const SymInts& sizes) {
  return {{"sizes", sizes},         {"stride", g.stride},         {"padding", g.padding},
          {"dilation", g.dilation}, {"transposed", g.transposed}, {"groups", g.groups}};
}

// Images by themselves first: their places are neighbours in memory, and there is a sum for each
// image and channel to share work by.
Val bias_gradient(const Val& grad) {
  Dims places;
  for (int64_t d = 2; d < grad.rank(); ++d) places.push_back(d);
  const Val of_images = reduce(Prim::reduce_sum, opmath(grad), places, false);
  return convert(reduce(Prim::reduce_sum, of_images, {0}, false), grad.dtype());
}

void require_rank_of_weight(const Val& weight) {
  require(weight.rank() >= 3 && weight.rank() <= 5, ErrorCode::runtime,
          fmt::format("weight should have at least three dimensions, and at most five, but got {}",
                      shape_text(weight.shape())));
}

constexpr const char* kDoubleBackward = "_convolution_double_backward";

void require_second_gradient(const char* name, const Val& v, const char* of, const SymInts& sizes,
                             DType type) {
  require_sizes(kDoubleBackward, name, v, of, sizes);
  require_dtype(kDoubleBackward, name, v, type);
}

std::tuple<Val, Val, Val> gradients(Tracer& t, const Val& grad, const Val& input, const Val& weight,
                                    ConvolutionGeometry g, const std::vector<bool>& mask) {
  require_rank_of_weight(weight);
  require(input.rank() == weight.rank() && grad.rank() == weight.rank(), ErrorCode::runtime,
          fmt::format("Expected input and grad_output of {} dims as the weight has, but got {} and "
                      "{}",
                      weight.rank(), input.rank(), grad.rank()));
  for (const Val* v : {&input, &grad}) {
    require(v->dtype() == weight.dtype(), ErrorCode::runtime,
            fmt::format("expected scalar type {} but found {}", aten_name(weight.dtype()),
                        aten_name(v->dtype())));
  }
  g.spread_over(static_cast<size_t>(weight.rank()) - 2);
  require_convolvable(input, weight, {}, g);
  const SymInts result = convolved_shape(input, weight, g);
  require(grad.shape() == result, ErrorCode::runtime,
          fmt::format("Expected grad_output to have the size {} of the result, but got {}",
                      shape_text(result), shape_text(grad.shape())));
  const auto nothing = [&](const Val& like) { return zeros(t, {SymInt(0)}, like.dtype()); };
  return {
      mask[0]
          ? t.prim1(Prim::convolution_backward_input, {grad, weight}, windows_of(g, input.shape()))
          : nothing(input),
      mask[1]
          ? t.prim1(Prim::convolution_backward_weight, {grad, input}, windows_of(g, weight.shape()))
          : nothing(weight),
      mask[2] ? bias_gradient(grad) : nothing(grad)};
}

ConvolutionGeometry plain(const SymInts& stride, const SymInts& padding) {
  return {stride, padding, SymInts(stride.size(), SymInt(1)), false, {}, 1};
}

}  // namespace

std::tuple<Val, Val, Val> convolution_backward::decompose(
    Tracer& t, const Val& grad_output, const Val& input, const Val& weight,
    const std::optional<SymInts>&, const SymInts& stride, const SymInts& padding,
    const SymInts& dilation, bool transposed, const SymInts& output_padding, SymInt groups,
    const std::vector<bool>& output_mask) {
  return gradients(t, grad_output, input, weight,
                   {stride, padding, dilation, transposed, output_padding, groups}, output_mask);
}

// Of the inner products of ggI, ggW and ggb with the gradients, which are linear in the gradient gO
// of the result and in what they are convolved with: the gradients by gO, self and weight.
std::tuple<Val, Val, Val> _convolution_double_backward::decompose(
    Tracer& t, const std::optional<Val>& ggI, const std::optional<Val>& ggW,
    const std::optional<Val>& ggb, const Val& gO, const Val& weight, const Val& self,
    const SymInts& stride, const SymInts& padding, const SymInts& dilation, bool transposed,
    const SymInts& output_padding, SymInt groups, const std::vector<bool>&) {
  ConvolutionGeometry g{stride, padding, dilation, transposed, output_padding, groups};
  require_rank_of_weight(weight);
  require_rank(kDoubleBackward, "self", self, weight.rank());
  require_dtype(kDoubleBackward, "self", self, weight.dtype());
  g.spread_over(static_cast<size_t>(weight.rank()) - 2);
  require_convolvable(self, weight, {}, g);
  const SymInts result = convolved_shape(self, weight, g);
  require_second_gradient("gO", gO, "the result", result, weight.dtype());
  if (ggI) require_second_gradient("ggI", *ggI, "self", self.shape(), weight.dtype());
  if (ggW) require_second_gradient("ggW", *ggW, "weight", weight.shape(), weight.dtype());
  // One for all channels is taken, too.
  const bool shared = ggb && ggb->rank() == 1 && ggb->size(0) == SymInt(1);
  if (ggb)
    require_second_gradient("ggb", *ggb, "the channels", {shared ? SymInt(1) : result[1]},
                            weight.dtype());
  const auto convolved = [&](const Val& x, const Val& w) {
    return convolution::decompose(t, x, w, {}, g.stride, g.padding, g.dilation, transposed,
                                  g.output_padding, groups);
  };
  const auto or_nothing = [&](const std::optional<Val>& v) {
    return v ? *v : zeros(t, {SymInt(0)}, gO.dtype());
  };
  std::optional<Val> by_grad, by_input, by_weight;
  const auto add = [&](const Val& v) { by_grad = by_grad ? *by_grad + v : v; };
  if (ggI) add(convolved(*ggI, weight));
  if (ggW) add(convolved(self, *ggW));
  if (ggb) {
    SymInts shape(static_cast<size_t>(gO.rank()), SymInt(1));
    shape[1] = ggb->size(0);
    add(broadcast_to(reshape(*ggb, shape), gO.shape()));
  }
  if (ggW)
    by_input = t.prim1(Prim::convolution_backward_input, {gO, *ggW}, windows_of(g, self.shape()));
  if (ggI)
    by_weight =
        t.prim1(Prim::convolution_backward_weight, {gO, *ggI}, windows_of(g, weight.shape()));
  return {or_nothing(by_grad), or_nothing(by_input), or_nothing(by_weight)};
}

std::tuple<Val, Val, Val> _slow_conv2d_backward::decompose(Tracer& t, const Val& grad_output,
                                                           const Val& self, const Val& weight,
                                                           const SymInts&, const SymInts& stride,
                                                           const SymInts& padding,
                                                           const std::vector<bool>& output_mask) {
  return gradients(t, grad_output, self, weight, plain(stride, padding), output_mask);
}

namespace {

using ConvolutionGradients = std::tuple<Val, Val, Val>;

// Time first: [time, batch, channels] by [kernel, in, out].
ConvolutionGradients tbc_gradients(const Val& grad, const Val& input, const Val& weight,
                                   int64_t pad) {
  const auto [x, w, b] =
      gradients(grad.tracer(), transpose(grad, {1, 2, 0}), transpose(input, {1, 2, 0}),
                transpose(weight, {2, 1, 0}), plain({1}, {pad}), {true, true, true});
  return {transpose(x, {2, 0, 1}), transpose(w, {2, 1, 0}), b};
}

// Those of input and weight are linear in the gradient and in the other operand.
ConvolutionGradients complex_tbc_gradients(const Val& grad, const Val& input, const Val& weight,
                                           int64_t pad) {
  const ConvolutionGradients rr = tbc_gradients(real(grad), real(input), real(weight), pad),
                             ii = tbc_gradients(imag(grad), imag(input), imag(weight), pad),
                             ri = tbc_gradients(real(grad), imag(input), imag(weight), pad),
                             ir = tbc_gradients(imag(grad), real(input), real(weight), pad);
  return {complex(std::get<0>(rr) - std::get<0>(ii), std::get<0>(ri) + std::get<0>(ir)),
          complex(std::get<1>(rr) - std::get<1>(ii), std::get<1>(ri) + std::get<1>(ir)),
          complex(std::get<2>(rr), std::get<2>(ii))};
}

}  // namespace

std::tuple<Val, Val, Val> conv_tbc_backward::decompose(Tracer&, const Val& self, const Val& input,
                                                       const Val& weight, const Val&, int64_t pad) {
  require(self.rank() == 3 && input.rank() == 3 && weight.rank() == 3, ErrorCode::runtime,
          fmt::format(
              "conv_tbc_backward: expected self, input and weight of 3 dims, but got {}, {} and {}",
              self.rank(), input.rank(), weight.rank()));
  return is_complex(self.dtype()) ? complex_tbc_gradients(self, input, weight, pad)
                                  : tbc_gradients(self, input, weight, pad);
}

// --- the same convolution by other names ---

namespace {

Val by_name(Tracer& t, const Val& self, const Val& weight, const std::optional<Val>& bias,
            const SymInts& stride, const SymInts& padding, const SymInts& dilation,
            const std::optional<SymInts>& output_padding, const SymInt& groups) {
  const SymInts none(stride.size(), SymInt(0));
  const bool batched = self.rank() == weight.rank();
  const Val x = batched ? self : unsqueeze(self, 0);
  const Val y =
      convolution::decompose(t, x, weight, bias, stride, padding, dilation,
                             output_padding.has_value(), output_padding.value_or(none), groups);
  return batched ? y : squeeze(y, 0);
}

SymInts ones(const SymInts& like) {
  return SymInts(like.size(), SymInt(1));
}

// ATen's slow convolutions begin with a copy of the bias, which casts it.
std::optional<Val> copied_bias(const std::optional<Val>& bias, const Val& self) {
  return bias ? std::optional(convert(*bias, self.dtype())) : std::nullopt;
}

}  // namespace

Val slow_conv::decompose(Tracer& t, const Val& self, const Val& weight, const SymInts&,
                         const std::optional<Val>& bias, const SymInts& stride,
                         const SymInts& padding) {
  return by_name(t, self, weight, copied_bias(bias, self), stride, padding, ones(stride), {}, 1);
}

Val slow_conv_dilated::decompose(Tracer& t, const Val& self, const Val& weight, const SymInts&,
                                 const std::optional<Val>& bias, const SymInts& stride,
                                 const SymInts& padding, const SymInts& dilation) {
  if (weight.size(0) > SymInt(0)) {
    return by_name(t, self, weight, copied_bias(bias, self), stride, padding, dilation, {}, 1);
  }
  // No output channel at all, which ATen's convolution refuses and this one takes: none of one.
  SymInts one_channel = weight.shape();
  one_channel[0] = 1;
  const Val one =
      by_name(t, self, zeros(t, one_channel, weight.dtype()), {}, stride, padding, dilation, {}, 1);
  return slice(one, self.rank() == weight.rank() ? 1 : 0, 0, 0, 1);
}

Val slow_conv_transpose::decompose(Tracer& t, const Val& self, const Val& weight, const SymInts&,
                                   const std::optional<Val>& bias, const SymInts& stride,
                                   const SymInts& padding, const SymInts& output_padding,
                                   const SymInts& dilation) {
  // That of images adds the bias at the end, if it can be cast; that of volumes takes no other.
  const bool added = bias && weight.rank() == 4 && !is_float8(bias->dtype()) &&
                     can_cast(bias->dtype(), self.dtype());
  return by_name(t, self, weight, added ? copied_bias(bias, self) : bias, stride, padding, dilation,
                 output_padding, 1);
}

// Each input channel by itself.
Val conv_depthwise::decompose(Tracer& t, const Val& self, const Val& weight, const SymInts&,
                              const std::optional<Val>& bias, const SymInts& stride,
                              const SymInts& padding, const SymInts& dilation) {
  const int64_t rank = weight.rank();
  require(self.rank() == rank || self.rank() == rank - 1, ErrorCode::runtime,
          fmt::format("expected an input of rank {} or {} for a weight of rank {}, but got rank {}",
                      rank - 1, rank, rank, self.rank()));
  const SymInt channels = self.size(self.rank() == rank ? 1 : 0);
  return by_name(t, self, weight, bias, stride, padding, dilation, {}, channels);
}

}  // namespace primset::decomps
