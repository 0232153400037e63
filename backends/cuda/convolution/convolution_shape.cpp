#include "backends/cuda/convolution/convolution_shape.h"

#include <limits>

#include "backends/cuda/libraries/cudnn_graph.h"

namespace primset_cuda {
namespace {

using primset_backend::ConvolutionKind;

// The library's 32 bits count its elements.
bool is_countable(const primset_tensor& t) {
  int64_t elements = 1;
  for (uint32_t d = 0; d < t.rank; ++d) {
    if (t.sizes[d] > std::numeric_limits<int>::max() / elements) return false;
    elements *= t.sizes[d];
  }
  return true;
}

// Rows are images of one row.
std::array<int, 5> dnn_sizes(const primset_tensor& t) {
  std::array<int, 5> sizes{};
  size_t n = 0;
  for (uint32_t d = 0; d < t.rank; ++d) {
    if (d == 2 && t.rank == 3) sizes[n++] = 1;
    sizes[n++] = static_cast<int>(t.sizes[d]);
  }
  return sizes;
}

// Of the row itself there is one window, without padding.
std::array<int, 3> dnn_windows(const primset_backend::Sizes& values, int of_row) {
  std::array<int, 3> out{};
  size_t n = 0;
  if (values.size() == 1) out[n++] = of_row;
  for (const int64_t v : values) out[n++] = static_cast<int>(v);
  return out;
}

// Kinds of volumes whose engines take several times as long as a generated kernel: a filter for
// each channel, and windows side by side, of which each place of an image is in one.
bool has_slow_engines(const ConvolutionShape& s) {
  if (s.rank != 5 || s.kind == ConvolutionKind::filters) return false;
  if (s.groups > 1 && s.groups == s.x[1]) return true;
  bool side_by_side = s.kind == ConvolutionKind::images;
  for (size_t d = 0; d < s.stride.size(); ++d)
    side_by_side &= s.w[d + 2] == s.stride[d] && s.dilation[d] == 1;
  return side_by_side;
}

}  // namespace

std::optional<ConvolutionCall> read_cudnn_convolution(std::string_view name,
                                                      const primset_primitive_call& call) {
  const auto c = primset_backend::read_convolution(name, call);
  const auto type = c ? dnn_type(c->dtype) : std::nullopt;
  if (!type) return std::nullopt;
  for (const primset_tensor* t : {c->x, c->w, c->y, c->bias})
    if (t && !is_countable(*t)) return std::nullopt;
  ConvolutionShape s;
  s.kind = c->kind;
  s.type = *type;
  s.rank = c->spatial() == 3 ? 5 : 4;
  s.x = dnn_sizes(*c->x);
  s.w = dnn_sizes(*c->w);
  s.y = dnn_sizes(*c->y);
  s.padding = dnn_windows(c->padding, 0);
  s.stride = dnn_windows(c->stride, 1);
  s.dilation = dnn_windows(c->dilation, 1);
  s.groups = static_cast<int>(c->groups);
  s.bias = c->bias != nullptr;
  if (has_slow_engines(s)) return std::nullopt;
  return ConvolutionCall{s, *c};
}

}  // namespace primset_cuda
