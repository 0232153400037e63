#include "decomps/operators/convolution.h"

#include <fmt/format.h>

#include "decomps/engine/engine.h"
#include "decomps/operators/convolution/geometry.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

void require_types(const Val& x, const Val& w, const std::optional<Val>& bias) {
  require(
      x.dtype() == w.dtype(), ErrorCode::runtime,
      fmt::format("expected scalar type {} but found {}; expected input and weight of one dtype",
                  aten_name(x.dtype()), aten_name(w.dtype())));
  require(!bias || bias->dtype() == x.dtype(), ErrorCode::runtime,
          fmt::format("Input type ({}) and bias type ({}) should be the same", cpp_name(x.dtype()),
                      bias ? cpp_name(bias->dtype()) : ""));
  if (is_bool(x.dtype())) not_implemented_for("slow_conv2d_cpu", x.dtype());
}

Val real_convolution(const Val& x, const Val& w, const std::optional<Val>& bias,
                     const ConvolutionGeometry& g) {
  return x.tracer().prim1(Prim::convolution, {x, w, bias.value_or(Val())},
                          {{"stride", g.stride},
                           {"padding", g.padding},
                           {"dilation", g.dilation},
                           {"transposed", g.transposed},
                           {"output_padding", g.output_padding},
                           {"groups", g.groups}});
}

// Gauss: three real products make a complex one, of the parts and of their sums. As ATen's, whose
// third has the sum of the bias's parts.
Val complex_convolution(const Val& x, const Val& w, const std::optional<Val>& bias,
                        const ConvolutionGeometry& g) {
  using Part = Val (*)(const Val&);
  const auto part_of_bias = [&](Part part) { return bias ? std::optional(part(*bias)) : bias; };
  const auto summed = [](const Val& z) { return real(z) + imag(z); };
  const Val re = real_convolution(real(x), real(w), part_of_bias(real), g);
  const Val im = real_convolution(imag(x), imag(w), std::nullopt, g);
  const Val sum = real_convolution(summed(x), summed(w), part_of_bias(summed), g);
  return complex(re - im, sum - re - im);
}

Val convolved(const Val& input, const Val& weight, const std::optional<Val>& bias,
              ConvolutionGeometry g) {
  require(weight.rank() >= 3 && weight.rank() <= 5, ErrorCode::runtime,

          fmt::format("weight should have at least three dimensions; weight has shape {}",
                      shape_text(weight.shape())));
  const auto n = static_cast<size_t>(weight.rank()) - 2;
  const bool batched = input.rank() == weight.rank();
  require(
      batched || input.rank() == weight.rank() - 1, ErrorCode::runtime,
      fmt::format("Expected {}D (unbatched) or {}D (batched) input to conv{}d, but got input of "
                  "size: {}",
                  n + 1, n + 2, n, shape_text(input.shape())));
  const Val x = batched ? input : unsqueeze(input, 0);
  g.spread_over(n);
  require_convolvable(x, weight, bias, g);
  require_types(x, weight, bias);
  const Val y = is_complex(x.dtype()) ? complex_convolution(x, weight, bias, g)
                                      : real_convolution(x, weight, bias, g);
  return batched ? y : squeeze(y, 0);
}

// padding="same" with an odd total pads one more behind.
Val same_padded(const Val& x, const Val& w, const SymInts& dilation, SymInts* symmetric) {
  Tracer& t = x.tracer();
  const auto n = static_cast<size_t>(w.rank()) - 2;
  const auto rank = static_cast<size_t>(x.rank());
  SymInts high(rank, SymInt(0));
  bool uneven = false;
  for (size_t i = 0; i < n; ++i) {
    const SymInt total = dilation[i] * (w.size(static_cast<int64_t>(i) + 2) - 1);
    symmetric->push_back(floor_div(total, 2));
    high[rank - n + i] = total - 2 * symmetric->back();
    uneven = uneven || !(high[rank - n + i] == SymInt(0));
  }
  if (!uneven) return x;
  return t.wrap(t.builder().pad(x.id(), t.constant(0, x.dtype()).id(), SymInts(rank, SymInt(0)),
                                high, SymInts(rank, SymInt(0))));
}

}  // namespace

namespace {

void require_batched(const Val& input, const Val& weight) {
  require(weight.rank() >= 3, ErrorCode::runtime,
          fmt::format("weight should have at least three dimensions; weight has shape {}",
                      shape_text(weight.shape())));
  require(input.rank() == weight.rank(), ErrorCode::runtime,
          fmt::format("Expected {}-dimensional input for {}-dimensional weight {}, but got "
                      "{}-dimensional input of size {} instead",
                      weight.rank(), weight.rank(), shape_text(weight.shape()), input.rank(),
                      shape_text(input.shape())));
}

}  // namespace

Val convolution::decompose(Tracer& t, const Val& input, const Val& weight,
                           const std::optional<Val>& bias, const SymInts& stride,
                           const SymInts& padding, const SymInts& dilation, bool transposed,
                           const SymInts& output_padding, SymInt groups) {
  require_batched(input, weight);
  require_real("slow_conv2d_cpu", input);  // the operators of a rank take complex ones
  return convolved(input, weight, bias,
                   {stride, padding, dilation, transposed, output_padding, groups});
}

Val conv_nd::decompose(Tracer& t, const Val& input, const Val& weight,
                       const std::optional<Val>& bias, const SymInts& stride,
                       const SymInts& padding, const SymInts& dilation, SymInt groups) {
  return convolved(input, weight, bias, {stride, padding, dilation, false, {}, groups});
}

Val conv_nd_named_padding::decompose(Tracer& t, const Val& input, const Val& weight,
                                     const std::optional<Val>& bias, const SymInts& stride,
                                     const std::string& padding, const SymInts& dilation,
                                     SymInt groups) {
  require(weight.rank() >= 3, ErrorCode::runtime,
          fmt::format("weight should have at least three dimensions; weight has shape {}",
                      shape_text(weight.shape())));
  const auto n = static_cast<size_t>(weight.rank()) - 2;
  const SymInts d = spread(dilation, n, "dilation");
  if (padding == "valid")
    return convolved(input, weight, bias, {stride, SymInts(n, SymInt(0)), d, false, {}, groups});
  require(padding == "same", ErrorCode::runtime,
          fmt::format("Invalid padding string: '{}'; expected 'valid' or 'same'", padding));
  for (const SymInt& s : stride)
    require(s == SymInt(1), ErrorCode::runtime,
            "padding='same' is not supported for strided convolutions");
  SymInts symmetric;
  const Val x = same_padded(input, weight, d, &symmetric);
  return convolved(x, weight, bias, {stride, symmetric, d, false, {}, groups});
}

Val conv_transpose_nd::decompose(Tracer& t, const Val& input, const Val& weight,
                                 const std::optional<Val>& bias, const SymInts& stride,
                                 const SymInts& padding, const SymInts& output_padding,
                                 SymInt groups, const SymInts& dilation) {
  return convolved(input, weight, bias, {stride, padding, dilation, true, output_padding, groups});
}

Val _convolution::decompose(Tracer& t, const Val& input, const Val& weight,
                            const std::optional<Val>& bias, const SymInts& stride,
                            const SymInts& padding, const SymInts& dilation, bool transposed,
                            const SymInts& output_padding, SymInt groups, bool, bool, bool, bool) {
  return convolution::decompose(t, input, weight, bias, stride, padding, dilation, transposed,
                                output_padding, groups);
}

Val _convolution_deprecated::decompose(Tracer& t, const Val& input, const Val& weight,
                                       const std::optional<Val>& bias, const SymInts& stride,
                                       const SymInts& padding, const SymInts& dilation,
                                       bool transposed, const std::vector<int64_t>& output_padding,
                                       SymInt groups, bool, bool, bool) {
  return convolution::decompose(t, input, weight, bias, stride, padding, dilation, transposed,
                                SymInts(output_padding.begin(), output_padding.end()), groups);
}

Val _convolution_mode::decompose(Tracer& t, const Val& input, const Val& weight,
                                 const std::optional<Val>& bias, const SymInts& stride,
                                 const std::string& padding, const SymInts& dilation,
                                 SymInt groups) {
  require_real("slow_conv2d_cpu", input);
  return conv_nd_named_padding::decompose(t, input, weight, bias, stride, padding, dilation,
                                          groups);
}

// Time first: [time, batch, channels] by [kernel, in, out].
Val conv_tbc::decompose(Tracer& t, const Val& self, const Val& weight, const Val& bias,
                        int64_t pad) {
  require(self.rank() == 3, ErrorCode::runtime, "Input must have 3 dims: time, batch, in_channel");
  require(weight.rank() == 3, ErrorCode::runtime,
          "Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.");
  require(bias.rank() == 1, ErrorCode::runtime, "Bias must be 1-D");
  require(self.size(2) == weight.size(1), ErrorCode::runtime,
          "Input dim 2 (input channels) is not == dim 1 in the weight tensor");
  require(weight.size(2) == bias.size(0), ErrorCode::runtime,
          "Bias size must equal dim 2 in the weight tensor (output channels).");
  // The sums begin with a copy of the bias, which casts it.
  require_types(self, weight, convert(bias, self.dtype()));
  const auto operand = [](const Val& x) { return is_float8(x.dtype()) ? opmath(x) : x; };
  const Val y =
      convolved(transpose(operand(self), {1, 2, 0}), transpose(operand(weight), {2, 1, 0}),
                operand(convert(bias, self.dtype())), {{1}, {pad}, {1}, false, {}, 1});
  return convert(transpose(y, {2, 0, 1}), self.dtype());
}

}  // namespace primset::decomps
