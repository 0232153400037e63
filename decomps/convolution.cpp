#include "decomps/convolution.h"

#include <fmt/format.h>
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

void require_channels(const Val& x, const Val& w, const Geometry& g) {
  const SymInt want = g.transposed ? w.size(0) : w.size(1) * g.groups;
  require(
      x.size(1) == want, ErrorCode::runtime,
      fmt::format("Given groups={}, weight of size {}, expected input{} to have {} channels, but "
                  "got {} channels instead",
                  g.groups.hint(), shape_text(w.shape()), shape_text(x.shape()), want.hint(),
                  x.size(1).hint()));
}

void require_fits(const Val& x, const Val& w, const Geometry& g) {
  if (g.transposed) return;
  for (size_t i = 0; i < g.stride.size(); ++i) {
    const auto d = static_cast<int64_t>(i) + 2;
    const SymInt padded = x.size(d) + 2 * g.padding[i];
    const SymInt reach = g.dilation[i] * (w.size(d) - 1) + 1;
    require(padded >= reach, ErrorCode::runtime,
            fmt::format("Calculated padded input size per channel: ({}). Kernel size: ({}). Kernel "
                        "size can't be greater than actual input size",
                        padded.hint(), reach.hint()));
  }
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
  require(x.dtype() == weight.dtype(), ErrorCode::runtime,
          "Input type and weight type should be the same");
  g.stride = spread(g.stride, n, "stride");
  g.padding = spread(g.padding, n, "padding");
  g.dilation = spread(g.dilation, n, "dilation");
  g.output_padding = g.output_padding.empty() ? SymInts(n, SymInt(0))
                                              : spread(g.output_padding, n, "output_padding");
  require_channels(x, weight, g);
  require_fits(x, weight, g);
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

Val convolution::decompose(Tracer& t, const Val& input, const Val& weight,
                           const std::optional<Val>& bias, const SymInts& stride,
                           const SymInts& padding, const SymInts& dilation, bool transposed,
                           const SymInts& output_padding, SymInt groups) {
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

}  // namespace primset::decomps
