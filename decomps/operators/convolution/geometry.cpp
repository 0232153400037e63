#include "decomps/operators/convolution/geometry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

void require_positive(const ConvolutionGeometry& g) {
  const auto all = [](const SymInts& list, int64_t least) {
    return std::all_of(list.begin(), list.end(),
                       [&](const SymInt& s) { return s >= SymInt(least); });
  };
  require(all(g.padding, 0), ErrorCode::runtime,
          "negative padding is not supported; found padding " + shape_text(g.padding));
  require(all(g.output_padding, 0), ErrorCode::runtime,
          "negative output_padding is not supported; found output_padding " +
              shape_text(g.output_padding));
  require(all(g.stride, 1), ErrorCode::runtime,
          "non-positive stride is not supported; found stride " + shape_text(g.stride));
  // Said of an image, where a single dim is a row.
  SymInts dilation = g.dilation;
  if (dilation.size() == 1) dilation.insert(dilation.begin(), 1);
  require(all(g.dilation, 1), ErrorCode::runtime,
          "dilation should be greater than zero, but got " + shape_text(dilation));
  require(g.groups > SymInt(0), ErrorCode::runtime,
          fmt::format("non-positive groups is not supported; found groups {}", g.groups.hint()));
}

void require_channels(const Val& x, const Val& w, const std::optional<Val>& bias,
                      const ConvolutionGeometry& g) {
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

void require_fits(const Val& x, const Val& w, const ConvolutionGeometry& g) {
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
void require_transposed(const Val& x, const Val& w, const ConvolutionGeometry& g) {
  if (!g.transposed) return;
  const SymInts shape = convolved_shape(x, w, g);
  for (size_t i = 0; i < g.stride.size(); ++i) {
    require(g.output_padding[i] < g.stride[i] || g.output_padding[i] < g.dilation[i],
            ErrorCode::runtime,
            "output padding must be smaller than either stride or dilation, but got" +
                dims_text("output_padding", g.output_padding, 0) +
                dims_text("stride", g.stride, 1) + dims_text("dilation", g.dilation, 1));
    const SymInt& size = shape[i + 2];
    require(size > SymInt(0), ErrorCode::runtime,
            fmt::format("Given input size per channel: ({}). Calculated output size per channel: "
                        "({}). Output size is too small",
                        x.size(static_cast<int64_t>(i) + 2).hint(), size.hint()));
  }
}

}  // namespace

SymInts spread(const SymInts& list, size_t n, const char* what) {
  if (list.size() == 1) return SymInts(n, list[0]);
  require(
      list.size() == n, ErrorCode::runtime,
      fmt::format("expected {} to be a single integer value or a list of {} values to match the "
                  "convolution dimensions, but got {}={}",
                  what, n, what, shape_text(list)));
  return list;
}

void ConvolutionGeometry::spread_over(size_t n) {
  stride = spread(stride, n, "stride");
  padding = spread(padding, n, "padding");
  dilation = spread(dilation, n, "dilation");
  output_padding =
      output_padding.empty() ? SymInts(n, SymInt(0)) : spread(output_padding, n, "output_padding");
}

void require_convolvable(const Val& x, const Val& w, const std::optional<Val>& bias,
                         const ConvolutionGeometry& g) {
  require_positive(g);
  require_channels(x, w, bias, g);
  require_fits(x, w, g);
  require_transposed(x, w, g);
}

SymInts convolved_shape(const Val& x, const Val& w, const ConvolutionGeometry& g) {
  SymInts shape{x.size(0), g.transposed ? w.size(1) * g.groups : w.size(0)};
  for (size_t i = 0; i < g.stride.size(); ++i) {
    const auto d = static_cast<int64_t>(i) + 2;
    const SymInt reach = g.dilation[i] * (w.size(d) - 1) + 1;
    const SymInt padding = 2 * g.padding[i];
    shape.push_back(g.transposed
                        ? (x.size(d) - 1) * g.stride[i] - padding + reach + g.output_padding[i]
                        : floor_div(x.size(d) + padding - reach, g.stride[i]) + 1);
  }
  return shape;
}

}  // namespace primset::decomps
