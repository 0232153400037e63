#include "backends/common/convolution/convolution.h"

#include <algorithm>
#include <span>

#include "backends/common/call_attributes.h"

namespace primset_backend {
namespace {

// Which tensors of a call are x, w and y, whether or not it is transposed.
struct TensorRoles {
  std::string_view name;
  bool transposed;
  ConvolutionKind kind;
};
constexpr TensorRoles kRoles[] = {
    {"convolution", false, ConvolutionKind::places},
    {"convolution", true, ConvolutionKind::images},
    {"convolution_backward_input", false, ConvolutionKind::images},
    {"convolution_backward_input", true, ConvolutionKind::places},
    {"convolution_backward_weight", false, ConvolutionKind::filters},
    {"convolution_backward_weight", true, ConvolutionKind::filters},
};

void place_tensors(const primset_primitive_call& call, bool transposed, Convolution& c) {
  const primset_tensor *first = &call.operands[0], *second = &call.operands[1],
                       *result = &call.results[0];
  switch (c.kind) {
    case ConvolutionKind::places:
      c.x = first, c.w = second, c.y = result;
      break;
    case ConvolutionKind::images:
      c.y = first, c.w = second, c.x = result;
      break;
    case ConvolutionKind::filters:  // of the gradient and what was convolved
      c.y = transposed ? second : first, c.x = transposed ? first : second, c.w = result;
      break;
  }
  c.bias = call.operand_count == 3 ? &call.operands[2] : nullptr;
}

bool has_elements(const primset_tensor& t) {
  return std::none_of(t.sizes, t.sizes + t.rank, [](int64_t n) { return n <= 0; });
}

bool sizes_fit(const Convolution& c) {
  const int64_t *x = c.x->sizes, *w = c.w->sizes, *y = c.y->sizes;
  if (c.groups < 1 || x[1] != w[1] * c.groups || w[0] % c.groups != 0 || y[0] != x[0] ||
      y[1] != w[0])
    return false;
  for (size_t i = 0; i < c.spatial(); ++i) {
    const int64_t reach = c.dilation[i] * (w[i + 2] - 1) + 1,
                  rest = x[i + 2] + 2 * c.padding[i] - reach;
    if (c.stride[i] < 1 || c.dilation[i] < 1 || c.padding[i] < 0 || rest < 0 ||
        rest / c.stride[i] + 1 != y[i + 2])
      return false;
  }
  return true;
}

}  // namespace

int64_t Convolution::places_of_image() const {
  int64_t n = 1;
  for (uint32_t d = 2; d < y->rank; ++d) n *= y->sizes[d];
  return n;
}

int64_t Convolution::filter_elements() const {
  int64_t n = 1;
  for (uint32_t d = 0; d < w->rank; ++d) n *= w->sizes[d];
  return n;
}

std::optional<Convolution> read_convolution(std::string_view name,
                                            const primset_primitive_call& call) {
  const bool transposed = integer(call, "transposed", 0) != 0;
  const auto roles = std::ranges::find_if(
      kRoles, [&](const TensorRoles& r) { return r.name == name && r.transposed == transposed; });
  if (roles == std::end(kRoles) || call.operand_count < 2 || call.operand_count > 3 ||
      call.result_count != 1)
    return std::nullopt;
  Convolution c;
  c.kind = roles->kind;
  place_tensors(call, transposed, c);
  c.dtype = c.x->dtype;
  c.groups = integer(call, "groups", 1);
  c.stride = integers(call, "stride");
  c.padding = integers(call, "padding");
  c.dilation = integers(call, "dilation");
  const size_t n = c.stride.size();
  if (n < 1 || n > 3 || c.padding.size() != n || c.dilation.size() != n) return std::nullopt;
  for (const primset_tensor* t : {c.x, c.w, c.y})
    if (t->rank != n + 2 || t->dtype != c.dtype || !has_elements(*t)) return std::nullopt;
  if (c.bias && (c.bias->rank != 1 || c.bias->dtype != c.dtype)) return std::nullopt;
  return sizes_fit(c) ? std::optional(std::move(c)) : std::nullopt;
}

bool steps_everywhere(const primset_tensor& t) {
  for (uint32_t d = 0; d < t.rank; ++d)
    if (t.sizes[d] > 1 && t.strides[d] <= 0) return false;
  return true;
}

}  // namespace primset_backend
