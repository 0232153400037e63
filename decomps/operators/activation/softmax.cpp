// Softmax and its kin.
#include <fmt/format.h>

#include <cmath>

#include "decomps/engine/engine.h"
#include "decomps/operators/activation.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

Val along(Prim p, const Val& x, int64_t dim) {
  if (x.rank() == 0) return reshape(along(p, reshape(x, {1}), 0), {});
  return x.tracer().prim1(p, {x}, {{"dim", wrap_dim(dim, x.rank())}});
}

void require_floating(const Val& x, const char* kernel) {
  if (!is_floating(x.dtype())) not_implemented_for(kernel, x.dtype());
}

Val softmax_of(Prim p, const Val& x, int64_t dim, const std::optional<DType>& dtype) {
  const Val v = dtype ? convert(x, *dtype) : x;
  require_floating(
      v, p == Prim::softmax ? "softmax_lastdim_kernel_impl" : "log_softmax_lastdim_kernel_impl");
  wrap_dim(dim, v.rank());
  return along(p, v, dim);
}

// The gradient by what `result` was made of along dim.
Val gradient_along(Prim p, const Val& grad, const Val& result, int64_t dim) {
  const int64_t d = wrap_dim(dim, result.rank());
  if (result.rank() == 0)
    return reshape(gradient_along(p, reshape(grad, {1}), reshape(result, {1}), d), {});
  return result.tracer().prim1(p, {grad, result}, {{"dim", d}});
}

void require_same_dtype(const Val& grad, const Val& output) {
  require(grad.dtype() == output.dtype(), ErrorCode::runtime,
          fmt::format("expected scalar type {} but found {}", aten_name(grad.dtype()),
                      aten_name(output.dtype())));
}

}  // namespace

Val softmax::decompose(Tracer& t, const Val& self, int64_t dim, const std::optional<DType>& dtype) {
  return softmax_of(Prim::softmax, self, dim, dtype);
}

Val log_softmax::decompose(Tracer& t, const Val& self, int64_t dim,
                           const std::optional<DType>& dtype) {
  return softmax_of(Prim::log_softmax, self, dim, dtype);
}

Val _softmax::decompose(Tracer& t, const Val& self, int64_t dim, bool half_to_float) {
  return softmax_of(Prim::softmax, self, dim,
                    half_to_float ? std::optional(DType::f32) : std::nullopt);
}

Val _log_softmax::decompose(Tracer& t, const Val& self, int64_t dim, bool half_to_float) {
  return softmax_of(Prim::log_softmax, self, dim,
                    half_to_float ? std::optional(DType::f32) : std::nullopt);
}

// Rows that are -inf throughout give zeros.
Val _safe_softmax::decompose(Tracer& t, const Val& self, int64_t dim,
                             const std::optional<DType>& dtype) {
  const Val y = softmax_of(Prim::softmax, self, dim, dtype);
  if (self.rank() == 0) return y;
  const Val masked = convert(eq(self, -HUGE_VAL), DType::boolean);
  const Val all = reduce(Prim::reduce_and, masked, {wrap_dim(dim, self.rank())}, true);
  return where(all, full_like(y, 0.0), y);
}

Val _softmax_backward_data::decompose(Tracer& t, const Val& grad_output, const Val& output,
                                      int64_t dim, DType input_dtype) {
  require(equal_sizes(grad_output.shape(), output.shape()), ErrorCode::runtime,
          fmt::format("Expected tensor for argument #1 'grad' to have same size as tensor for "
                      "argument #2 'output'; but {} does not equal {} (while checking arguments "
                      "for softmax_backward)",
                      shape_text(grad_output.shape()), shape_text(output.shape())));
  require_floating(grad_output, "softmax_backward_lastdim_kernel_impl");
  require_same_dtype(grad_output, output);
  return convert(gradient_along(Prim::softmax_backward, grad_output, output, dim), input_dtype);
}

Val _log_softmax_backward_data::decompose(Tracer& t, const Val& grad_output, const Val& output,
                                          int64_t dim, DType input_dtype) {
  require_floating(grad_output, "log_softmax_backward_lastdim_kernel_impl");
  require_same_dtype(grad_output, output);
  // ATen reads beyond the smaller one.
  require_sizes("_log_softmax_backward_data", "output", output, "grad_output", grad_output.shape());
  return convert(gradient_along(Prim::log_softmax_backward, grad_output, output, dim), input_dtype);
}

namespace {

// The mask in the input's shape: as it is, or of a padding mask [B, L] or an attention mask [L, L]
// beside [B, heads, L, L].
Val expanded_mask(const Val& mask, const Val& x, const std::optional<int64_t>& mask_type) {
  const bool whole = mask.rank() != 2 || x.rank() != 4 || mask_type == 2;
  if (whole) {
    require(equal_sizes(mask.shape(), x.shape()), ErrorCode::runtime,
            fmt::format("For mask_type == 2 mask shape should match input shape, but got {} and {}",
                        shape_text(mask.shape()), shape_text(x.shape())));
    return mask;
  }
  require(mask_type.has_value(), ErrorCode::runtime, "Mask Type should be defined");
  require(*mask_type == 0 || *mask_type == 1, ErrorCode::runtime,
          "Mask Type should be 0 (src_mask) or 1 (src_key_padding_mask), or 2 (default_mask)");
  const SymInt length = mask.size(0);
  if (*mask_type == 0) {
    require(length == x.size(2) && mask.size(1) == x.size(2), ErrorCode::runtime,
            "For mask_type == 0 mask shape should be (L, L)");
    return broadcast_to(reshape(mask, {1, 1, length, length}), x.shape());
  }
  require(length == x.size(0) && mask.size(1) == x.size(2), ErrorCode::runtime,
          "For mask_type == 1 mask shape should be (B, L)");
  return broadcast_to(reshape(mask, {length, 1, 1, mask.size(1)}), x.shape());
}

void require_mask(const Val& mask) {
  require(mask.dtype() == DType::boolean, ErrorCode::runtime,
          fmt::format("Mask should be a boolean tensor, but got {}", aten_name(mask.dtype())));
}

}  // namespace

// What the mask holds takes no part; a row of nothing else is NaN throughout.
Val _masked_softmax::decompose(Tracer& t, const Val& self, const Val& mask,
                               const std::optional<int64_t>& dim,
                               const std::optional<int64_t>& mask_type) {
  require_mask(mask);
  require_floating(self, "masked_softmax");
  const Val hidden = expanded_mask(mask, self, mask_type);
  return softmax_of(Prim::softmax, where(hidden, full_like(self, -HUGE_VAL), self),
                    dim.value_or(-1), {});
}

Val _masked_softmax_backward::decompose(Tracer& t, const Val& grad_output, const Val& output,
                                        const Val& mask, const std::optional<int64_t>& dim) {
  require_mask(mask);
  require_floating(grad_output, "masked_softmax_backward");
  require_same_dtype(grad_output, output);
  require(equal_sizes(grad_output.shape(), mask.shape()), ErrorCode::runtime,
          fmt::format("Mask shape should match grad shape, but got {} and {}",
                      shape_text(mask.shape()), shape_text(grad_output.shape())));
  require(equal_sizes(grad_output.shape(), output.shape()), ErrorCode::runtime,
          fmt::format("expected an output of the gradient's size {}, but got {}",
                      shape_text(grad_output.shape()), shape_text(output.shape())));
  const auto shown = [&](const Val& v) { return where(mask, full_like(v, 0.0), v); };
  const Val dx = shown(
      gradient_along(Prim::softmax_backward, shown(grad_output), shown(output), dim.value_or(-1)));
  return grad_output.rank() == 0 ? reshape(dx, {1}) : dx;
}

}  // namespace primset::decomps
