// Gradients of convolutions, which are convolutions: of the input by the adjoint, of the weight by
// exchanging batch and channels.
#include <fmt/format.h>

#include <algorithm>

#include "decomps/engine/engine.h"
#include "decomps/operators/convolution.h"
#include "decomps/operators/convolution/geometry.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

using Dims = std::vector<int64_t>;

Val convolved(Tracer& t, const Val& x, const Val& w, const ConvolutionGeometry& g) {
  return t.prim1(Prim::convolution, {x, w, Val()},
                 {{"stride", g.stride},
                  {"padding", g.padding},
                  {"dilation", g.dilation},
                  {"transposed", g.transposed},
                  {"output_padding", g.output_padding},
                  {"groups", g.groups}});
}

// The adjoint of the convolution, on sizes that give the input's.
Val input_gradient(Tracer& t, const Val& grad, const Val& input, const Val& weight,
                   const ConvolutionGeometry& g) {
  ConvolutionGeometry adjoint = g;
  adjoint.transposed = !g.transposed;
  SymInts& rest = adjoint.output_padding;
  rest.assign(g.stride.size(), SymInt(0));
  if (!g.transposed) {
    for (size_t i = 0; i < rest.size(); ++i) {
      const auto d = static_cast<int64_t>(i) + 2;
      rest[i] = input.size(d) - ((grad.size(d) - 1) * g.stride[i] - 2 * g.padding[i] +
                                 g.dilation[i] * (weight.size(d) - 1) + 1);
    }
  }
  Val x = convolved(t, grad, weight, adjoint);
  // Padding of the output is seen by no element of the input.
  for (int64_t d = 2; d < x.rank(); ++d) x = slice(x, d, 0, input.size(d), 1);
  return x;
}

// [batch, groups * channels, ...] to [channels, groups * batch, ...].
Val channels_first(const Val& x, const SymInt& groups) {
  const SymInt batch = x.size(0), channels = floor_div(x.size(1), groups);
  SymInts split = x.shape();
  split[1] = channels;
  split.insert(split.begin() + 1, groups);
  Dims order = {2, 1, 0};
  for (int64_t d = 3; d < static_cast<int64_t>(split.size()); ++d) order.push_back(d);
  SymInts shape = x.shape();
  shape[0] = channels;
  shape[1] = groups * batch;
  return reshape(transpose(reshape(x, split), order), shape);
}

Val channels_swapped(const Val& x) {
  Dims order = dims_from(0, x.rank());
  std::swap(order[0], order[1]);
  return transpose(x, order);
}

// What each kernel element saw of the input, times the gradient there: the gradient is the kernel
// now, so that stride and dilation change places.
Val weight_gradient(Tracer& t, const Val& grad, const Val& input, const Val& weight,
                    const ConvolutionGeometry& g) {
  const Val& field = g.transposed ? grad : input;
  const Val& steps = g.transposed ? input : grad;
  Val w = convolved(
      t, channels_first(field, g.groups), channels_swapped(steps),
      {g.dilation, g.padding, g.stride, false, SymInts(g.stride.size(), SymInt(0)), g.groups});
  for (int64_t d = 2; d < w.rank(); ++d) w = slice(w, d, 0, weight.size(d), 1);
  return channels_swapped(w);
}

Val bias_gradient(const Val& grad) {
  Dims dims{0};
  for (int64_t d = 2; d < grad.rank(); ++d) dims.push_back(d);
  return convert(reduce(Prim::reduce_sum, opmath(grad), dims, false), grad.dtype());
}

std::tuple<Val, Val, Val> gradients(Tracer& t, const Val& grad, const Val& input, const Val& weight,
                                    ConvolutionGeometry g, const std::vector<bool>& mask) {
  require(weight.rank() >= 3 && weight.rank() <= 5, ErrorCode::runtime,
          "weight should have at least three dimensions, and at most five");
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
  return {mask[0] ? input_gradient(t, grad, input, weight, g) : nothing(input),
          mask[1] ? weight_gradient(t, grad, input, weight, g) : nothing(weight),
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

std::tuple<Val, Val, Val> _slow_conv2d_backward::decompose(Tracer& t, const Val& grad_output,
                                                           const Val& self, const Val& weight,
                                                           const SymInts&, const SymInts& stride,
                                                           const SymInts& padding,
                                                           const std::vector<bool>& output_mask) {
  return gradients(t, grad_output, self, weight, plain(stride, padding), output_mask);
}

// Time first: [time, batch, channels] by [kernel, in, out].
std::tuple<Val, Val, Val> conv_tbc_backward::decompose(Tracer& t, const Val& self, const Val& input,
                                                       const Val& weight, const Val&, int64_t pad) {
  require(self.rank() == 3 && input.rank() == 3 && weight.rank() == 3, ErrorCode::runtime,
          fmt::format(
              "conv_tbc_backward: expected self, input and weight of 3 dims, but got {}, {} and {}",
              self.rank(), input.rank(), weight.rank()));
  const auto [x, w, b] =
      gradients(t, transpose(self, {1, 2, 0}), transpose(input, {1, 2, 0}),
                transpose(weight, {2, 1, 0}), plain({1}, {pad}), {true, true, true});
  return {transpose(x, {2, 0, 1}), transpose(w, {2, 1, 0}), b};
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

}  // namespace

Val slow_conv::decompose(Tracer& t, const Val& self, const Val& weight, const SymInts&,
                         const std::optional<Val>& bias, const SymInts& stride,
                         const SymInts& padding) {
  return by_name(t, self, weight, bias, stride, padding, ones(stride), {}, 1);
}

Val slow_conv_dilated::decompose(Tracer& t, const Val& self, const Val& weight, const SymInts&,
                                 const std::optional<Val>& bias, const SymInts& stride,
                                 const SymInts& padding, const SymInts& dilation) {
  if (weight.size(0) > SymInt(0)) {
    return by_name(t, self, weight, bias, stride, padding, dilation, {}, 1);
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
  return by_name(t, self, weight, bias, stride, padding, dilation, output_padding, 1);
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
