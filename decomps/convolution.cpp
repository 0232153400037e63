#include "decomps/convolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "decomps/engine.h"
#include "decomps/operator_support.h"

namespace primset::decomps {
namespace {

struct Geometry {
  SymInts stride, padding, dilation;
  bool transposed = false;
  SymInts output_padding;
  SymInt groups = 1;
};

// A list of one number stands for all spatial dims.
SymInts spread(const SymInts& list, size_t n, const char* what) {
  if (list.size() == 1) return SymInts(n, list[0]);
  require(
      list.size() == n, ErrorCode::runtime,
      fmt::format("expected {} to be a single integer value or a list of {} values to match the "
                  "convolution dimensions, but got {}={}",
                  what, n, what, shape_text(list)));
  return list;
}

void require_positive(const Geometry& g) {
  const auto all = [](const SymInts& list, int64_t least) {
    return std::all_of(list.begin(), list.end(),
                       [&](const SymInt& s) { return s >= SymInt(least); });
  };
  require(all(g.padding, 0), ErrorCode::runtime, "negative padding is not supported");
  require(all(g.output_padding, 0), ErrorCode::runtime, "negative output_padding is not supported");
  require(all(g.stride, 1), ErrorCode::runtime, "non-positive stride is not supported");
  // Said of an image, where a single dim is a row.
  SymInts dilation = g.dilation;
  if (dilation.size() == 1) dilation.insert(dilation.begin(), 1);
  require(all(g.dilation, 1), ErrorCode::runtime,
          "dilation should be greater than zero, but got " + shape_text(dilation));
  require(g.groups > SymInt(0), ErrorCode::runtime, "non-positive groups is not supported");
}

void require_channels(const Val& x, const Val& w, const std::optional<Val>& bias,
                      const Geometry& g) {
  require(w.size(0) >= g.groups, ErrorCode::runtime,
          fmt::format("Given groups={}, expected weight to be at least {} at dimension 0, but got "
                      "weight of size {} instead",
                      g.groups.hint(), g.groups.hint(), shape_text(w.shape())));
  require(mod(w.size(0), g.groups) == SymInt(0), ErrorCode::runtime,
          fmt::format("Given groups={}, expected weight to be divisible by {} at dimension 0, but "
                      "got weight of size [{}] instead",
                      g.groups.hint(), g.groups.hint(), shape_text(w.shape())));
  const SymInt want = g.transposed ? w.size(0) : w.size(1) * g.groups;
  require(x.size(1) == want, ErrorCode::runtime,
          fmt::format("Given {}={}, weight of size {}, expected input{} to have {} channels, but "
                      "got {} channels instead",
                      g.transposed ? "transposed" : "groups", g.transposed ? 1 : g.groups.hint(),
                      shape_text(w.shape()), shape_text(x.shape()), want.hint(), x.size(1).hint()));
  const SymInt out = g.transposed ? w.size(1) * g.groups : w.size(0);
  require(!bias || (bias->rank() == 1 && bias->size(0) == out), ErrorCode::runtime,
          fmt::format("Given {}weight of size {}, expected bias to be 1-dimensional with {} "
                      "elements, but got bias of size {} instead",
                      g.transposed ? "transposed=1, " : "", shape_text(w.shape()), out.hint(),
                      bias ? shape_text(bias->shape()) : ""));
}

void require_fits(const Val& x, const Val& w, const Geometry& g) {
  if (g.transposed) return;
  std::vector<int64_t> sizes, reaches;
  bool fits = true;
  for (size_t i = 0; i < g.stride.size(); ++i) {
    const auto d = static_cast<int64_t>(i) + 2;
    const SymInt padded = x.size(d) + 2 * g.padding[i];
    const SymInt reach = g.dilation[i] * (w.size(d) - 1) + 1;
    sizes.push_back(padded.hint());
    reaches.push_back(reach.hint());
    fits = fits && padded >= reach;
  }
  require(fits, ErrorCode::runtime,
          fmt::format("Calculated padded input size per channel: ({}). Kernel size: ({}). Kernel "
                      "size can't be greater than actual input size",
                      fmt::join(sizes, " x "), fmt::join(reaches, " x ")));
}

// " stride_height: 1 stride_width: 2": of an image, where a single dim is a row.
std::string dims_text(const char* what, SymInts list, int64_t missing) {
  constexpr std::array<const char*, 3> kNames = {"depth", "height", "width"};
  if (list.size() == 1) list.insert(list.begin(), missing);
  std::string text;
  for (size_t i = 0; i < list.size(); ++i)
    text += fmt::format(" {}_{}: {}", what, kNames[3 - list.size() + i], list[i].hint());
  return text;
}

// What is left over behind the output is less than a step.
void require_transposed(const Val& x, const Val& w, const Geometry& g) {
  if (!g.transposed) return;
  for (size_t i = 0; i < g.stride.size(); ++i) {
    require(g.output_padding[i] < g.stride[i] || g.output_padding[i] < g.dilation[i],
            ErrorCode::runtime,
            "output padding must be smaller than either stride or dilation, but got" +
                dims_text("output_padding", g.output_padding, 0) +
                dims_text("stride", g.stride, 1) + dims_text("dilation", g.dilation, 1));
    const auto d = static_cast<int64_t>(i) + 2;
    const SymInt size = (x.size(d) - 1) * g.stride[i] - 2 * g.padding[i] +
                        g.dilation[i] * (w.size(d) - 1) + g.output_padding[i] + 1;
    require(size > SymInt(0), ErrorCode::runtime,
            fmt::format("Given input size per channel: ({}). Calculated output size per channel: "
                        "({}). Output size is too small",
                        x.size(d).hint(), size.hint()));
  }
}

void require_types(const Val& x, const Val& w, const std::optional<Val>& bias) {
  require(x.dtype() == w.dtype(), ErrorCode::runtime,
          fmt::format("expected scalar type {} but found {}", aten_name(x.dtype()),
                      aten_name(w.dtype())));
  require(!bias || bias->dtype() == x.dtype(), ErrorCode::runtime,
          fmt::format("Input type ({}) and bias type ({}) should be the same", cpp_name(x.dtype()),
                      bias ? cpp_name(bias->dtype()) : ""));
  require_real("slow_conv2d_cpu", x);
}

Val convolved(Tracer& t, const Val& input, const Val& weight, const std::optional<Val>& bias,
              Geometry g) {
  require(weight.rank() >= 3 && weight.rank() <= 5, ErrorCode::runtime,
          "weight should have at least three dimensions");
  const auto n = static_cast<size_t>(weight.rank()) - 2;
  const bool batched = input.rank() == weight.rank();
  require(
      batched || input.rank() == weight.rank() - 1, ErrorCode::runtime,
      fmt::format("Expected {}D (unbatched) or {}D (batched) input to conv{}d, but got input of "
                  "size: {}",
                  n + 1, n + 2, n, shape_text(input.shape())));
  const Val x = batched ? input : unsqueeze(input, 0);
  g.stride = spread(g.stride, n, "stride");
  g.padding = spread(g.padding, n, "padding");
  g.dilation = spread(g.dilation, n, "dilation");
  g.output_padding = g.output_padding.empty() ? SymInts(n, SymInt(0))
                                              : spread(g.output_padding, n, "output_padding");
  require_positive(g);
  require_channels(x, weight, bias, g);
  require_fits(x, weight, g);
  require_transposed(x, weight, g);
  require_types(x, weight, bias);
  const Val y = t.prim1(Prim::convolution, {x, weight, bias.value_or(Val())},
                        {{"stride", g.stride},
                         {"padding", g.padding},
                         {"dilation", g.dilation},
                         {"transposed", g.transposed},
                         {"output_padding", g.output_padding},
                         {"groups", g.groups}});
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
  require(weight.rank() >= 3, ErrorCode::runtime, "weight should have at least three dimensions");
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
  return convolved(t, input, weight, bias,
                   {stride, padding, dilation, transposed, output_padding, groups});
}

Val conv_nd::decompose(Tracer& t, const Val& input, const Val& weight,
                       const std::optional<Val>& bias, const SymInts& stride,
                       const SymInts& padding, const SymInts& dilation, SymInt groups) {
  return convolved(t, input, weight, bias, {stride, padding, dilation, false, {}, groups});
}

Val conv_nd_named_padding::decompose(Tracer& t, const Val& input, const Val& weight,
                                     const std::optional<Val>& bias, const SymInts& stride,
                                     const std::string& padding, const SymInts& dilation,
                                     SymInt groups) {
  require(weight.rank() >= 3, ErrorCode::runtime, "weight should have at least three dimensions");
  const auto n = static_cast<size_t>(weight.rank()) - 2;
  const SymInts d = spread(dilation, n, "dilation");
  if (padding == "valid")
    return convolved(t, input, weight, bias, {stride, SymInts(n, SymInt(0)), d, false, {}, groups});
  require(padding == "same", ErrorCode::runtime,
          fmt::format("Invalid padding string: '{}'", padding));
  for (const SymInt& s : stride)
    require(s == SymInt(1), ErrorCode::runtime,
            "padding='same' is not supported for strided convolutions");
  SymInts symmetric;
  const Val x = same_padded(input, weight, d, &symmetric);
  return convolved(t, x, weight, bias, {stride, symmetric, d, false, {}, groups});
}

Val conv_transpose_nd::decompose(Tracer& t, const Val& input, const Val& weight,
                                 const std::optional<Val>& bias, const SymInts& stride,
                                 const SymInts& padding, const SymInts& output_padding,
                                 SymInt groups, const SymInts& dilation) {
  return convolved(t, input, weight, bias,
                   {stride, padding, dilation, true, output_padding, groups});
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
  const Val y = convolved(t, transpose(self, {1, 2, 0}), transpose(weight, {2, 1, 0}), bias,
                          {{1}, {pad}, {1}, false, {}, 1});
  return transpose(y, {2, 0, 1});
}

}  // namespace primset::decomps
