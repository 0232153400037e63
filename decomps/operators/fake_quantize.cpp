// Numbers rounded to those that integers of a range, a scale and a zero point can say, and the
// gradients by all three (Esser et al., Learned Step Size Quantization, 2020).
#include "decomps/operators/fake_quantize.h"

#include <fmt/format.h>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

struct IntegerRange {
  int64_t low, high;
};

IntegerRange integer_range(int64_t low, int64_t high) {
  require(low <= high, ErrorCode::runtime,
          fmt::format("`quant_min` should be less than or equal to `quant_max`, but got {} and {}",
                      low, high));
  return {low, high};
}

struct Quantized {
  Val y, inside;
};

// scale and zero point broadcast to x.
Quantized quantized(const Val& x, const Val& scale, const Val& zero_point,
                    const IntegerRange& range, bool round_sum = false) {
  const Val wide = opmath(x);
  const auto beside = [&](const Val& v, DType t) { return broadcast_to(convert(v, t), x.shape()); };
  const auto out = x.tracer().prim(
      Prim::fake_quantize, {wide, beside(scale, DType::f32), beside(zero_point, wide.dtype())},
      {{"low", range.low}, {"high", range.high}, {"round_sum", round_sum}});
  return {convert(out[0], x.dtype()), out[1]};
}

void require_quantizable(const Val& x, const char* kernel) {
  if (!is_floating(x.dtype())) not_implemented_for(kernel, x.dtype());
}

// The number that a tensor of one element, or of more the first, holds.
Val number_of(const Val& v) {
  require(v.numel() == SymInt(1), ErrorCode::runtime,
          fmt::format("a Tensor with {} elements cannot be converted to Scalar", v.numel().hint()));
  return reshape(v, {});
}
Val first_of(const Val& v) {
  require(v.rank() > 0, ErrorCode::index, "select() cannot be applied to a 0-dim tensor.");
  require(!v.is_empty(), ErrorCode::index,
          fmt::format("select(): index 0 out of range for tensor of size {} at dimension 0",
                      shape_text(v.shape())));
  return select(flattened(v), 0, 0);
}

Quantized per_tensor(Tracer& t, const Val& self, const ScalarArg& scale, int64_t zero_point,
                     int64_t low, int64_t high) {
  const IntegerRange range = integer_range(low, high);
  require(zero_point >= low && zero_point <= high, ErrorCode::runtime,
          fmt::format("`zero_point` must be between `quant_min` and `quant_max`, but got {}",
                      zero_point));
  require_quantizable(self, "fake_quantize_tensor_cachemask_kernel_type_handling");
  return quantized(self, t.scalar(scale, DType::f32), t.constant(zero_point, DType::i64), range);
}

Quantized by_tensors(const Val& self, const Val& scale, const Val& zero_point, int64_t low,
                     int64_t high) {
  const IntegerRange range = integer_range(low, high);
  require_quantizable(self, "fake_quantize_tensor_cachemask_kernel_type_handling");
  return quantized(self, number_of(scale), number_of(zero_point), range);
}

void require_axis(const Val& self, int64_t axis) {
  require(
      axis >= 0 && axis <= self.rank(), ErrorCode::runtime,
      fmt::format("`axis` must be between 0 and number of dimensions of input, but got {}", axis));
}

// A number for each place along axis.
Val along_axis(const Val& v, const Val& self, int64_t axis) {
  SymInts shape(static_cast<size_t>(self.rank()), SymInt(1));
  shape[static_cast<size_t>(axis)] = v.size(0);
  return reshape(v, shape);
}

void require_channels(const Val& self, const Val& scale, const Val& zero_point, int64_t axis) {
  require(scale.rank() == 1, ErrorCode::runtime,
          fmt::format("scale should be a 1-D tensor, but got {}", shape_text(scale.shape())));
  require(
      zero_point.rank() == 1, ErrorCode::runtime,
      fmt::format("zero point should be a 1-D tensor, but got {}", shape_text(zero_point.shape())));
  require(scale.size(0) == zero_point.size(0), ErrorCode::runtime,
          "scale and zero-point need to have the same dimensions");
  require_axis(self, axis);
  require(scale.size(0) == self.size(axis), ErrorCode::runtime,
          fmt::format("dimensions of scale and zero-point are not consistent with input tensor: {} "
                      "for an axis of {}",
                      scale.size(0).hint(), self.size(axis).hint()));
}

// A zero point that is no integer is added before the sum is rounded.
Quantized per_channel_grid(Tracer& t, const Val& self, const Val& scale, const Val& zero_point,
                           int64_t axis, int64_t low, int64_t high) {
  require(scale.dtype() == DType::f32 || scale.dtype() == DType::bf16, ErrorCode::runtime,
          fmt::format("Scale must be Float or BFloat16, found {}", aten_name(scale.dtype())));
  const DType type = zero_point.dtype();
  require(type == DType::i32 || type == DType::f32 || type == DType::f16, ErrorCode::runtime,
          fmt::format("Zero-point must be Int32, Float or Half, found {}", aten_name(type)));
  require_channels(self, scale, zero_point, axis);
  const IntegerRange range = integer_range(low, high);
  if (!is_floating(type)) {
    check(ge(zero_point, Scalar(low)) & le(zero_point, Scalar(high)),
          convert(zero_point, DType::i64), ErrorCode::runtime,
          "`zero_point` must be between `quant_min` and `quant_max`");
  }
  require_quantizable(self, "fake_quantize_channel_cachemask_cpu_type_handling");
  return quantized(self, along_axis(scale, self, axis), along_axis(zero_point, self, axis), range,
                   is_floating(type));
}

Val clamped(const Val& x, const IntegerRange& range) {
  return binary(Prim::min, binary(Prim::max, x, full_like(x, Scalar(range.low))),
                full_like(x, Scalar(range.high)));
}

// A learned zero point is an integer of the range.
Val rounded_zero_point(const Val& zero_point, const IntegerRange& range) {
  const Val number = is_floating(zero_point.dtype()) ? zero_point : convert(zero_point, DType::f32);
  return clamped(unary(Prim::round_even, opmath(number)), range);
}

// The gradient by one tensor's zero point takes it so: towards zero from half above.
Val truncated_zero_point(const Val& zero_point, const IntegerRange& range) {
  return unary(Prim::trunc, clamped(opmath(zero_point) + 0.5, range));
}

struct LearnedGradients {
  Val x, scale, zero_point;  // of each element, in opmath
};

// Inside the range the scale moves the rounded number by what rounding moved it, outside scale and
// zero point move the end of the range; what no i64 holds counts as below.
LearnedGradients learned_gradients(const Val& grad, const Val& self, const Val& scale,
                                   const Val& zero_point, const IntegerRange& range,
                                   double grad_factor) {
  const Val g = opmath(grad), x = opmath(self);
  const Val s = broadcast_to(opmath(scale), x.shape());
  const Val zero = broadcast_to(zero_point, x.shape());
  const Quantized q = quantized(x, s, zero, range, true);
  const Val steps = x * (1.0 / s);
  const Val above = gt(steps + zero, Scalar(range.high)) & lt(steps, Scalar(0x1p63));
  const Val end = where(above, full_like(x, Scalar(range.high)), full_like(x, Scalar(range.low)));
  const Val slope = where(q.inside, (q.y - x) / s, end - zero);
  const Val none = full_like(x, 0.0);
  return {g * convert(q.inside, x.dtype()), g * slope * grad_factor,
          where(q.inside, none, g * -1.0 * s * grad_factor)};
}

// Beside an input of bf16 ATen converts the gradient, beside one of f32 it does not.
void require_learnable(const Val& grad, const Val& self) {
  const bool fits =
      self.dtype() == DType::bf16 ? is_floating(grad.dtype()) : grad.dtype() == DType::f32;
  require(fits && (self.dtype() == DType::f32 || self.dtype() == DType::bf16), ErrorCode::runtime,
          fmt::format("expected a gradient and an input of dtype Float, or an input of BFloat16, "
                      "but got {} and {}",
                      aten_name(grad.dtype()), aten_name(self.dtype())));
  require(equal_sizes(grad.shape(), self.shape()), ErrorCode::runtime,
          fmt::format("`X` and `dY` are not the same size: {} and {}", shape_text(self.shape()),
                      shape_text(grad.shape())));
}

void require_learned(const Val& self, const Val& scale, const Val& zero_point) {
  for (const Val* v : {&scale, &zero_point}) {
    const bool half = v->dtype() == DType::bf16 && self.dtype() == DType::bf16;
    require(v->dtype() == DType::f32 || half, ErrorCode::runtime,
            fmt::format("expected scale and zero_point of dtype Float, but got {}",
                        aten_name(v->dtype())));
  }
}

Val masked_gradient(Tracer& t, const Val& grad, const Val& mask) {
  require(mask.dtype() == DType::boolean, ErrorCode::runtime,
          fmt::format("expected a mask of dtype Bool, but got {}", aten_name(mask.dtype())));
  require(
      mask.numel() == grad.numel(), ErrorCode::runtime,
      fmt::format("`mask` and `dY` are not the same size: `mask` is size {} and `dY` is size {}",
                  mask.numel().hint(), grad.numel().hint()));
  return t.call1("mul.Tensor", {grad, mask});
}

}  // namespace

std::tuple<Val, Val> fake_quantize_per_tensor_affine_cachemask::decompose(
    Tracer& t, const Val& self, const ScalarArg& scale, int64_t zero_point, int64_t quant_min,
    int64_t quant_max) {
  const Quantized q = per_tensor(t, self, scale, zero_point, quant_min, quant_max);
  return {q.y, q.inside};
}

Val fake_quantize_per_tensor_affine::decompose(Tracer& t, const Val& self, const ScalarArg& scale,
                                               int64_t zero_point, int64_t quant_min,
                                               int64_t quant_max) {
  return per_tensor(t, self, scale, zero_point, quant_min, quant_max).y;
}

Val fake_quantize_per_tensor_affine_tensor_qparams::decompose(Tracer& t, const Val& self,
                                                              const Val& scale,
                                                              const Val& zero_point,
                                                              int64_t quant_min,
                                                              int64_t quant_max) {
  return by_tensors(self, scale, zero_point, quant_min, quant_max).y;
}

std::tuple<Val, Val> _fake_quantize_per_tensor_affine_cachemask_tensor_qparams::decompose(
    Tracer& t, const Val& self, const Val& scale, const Val& zero_point,
    const Val& fake_quant_enabled, int64_t quant_min, int64_t quant_max) {
  const Quantized q = by_tensors(self, scale, zero_point, quant_min, quant_max);
  const Val enabled = broadcast_to(logical(number_of(fake_quant_enabled)), self.shape());
  return {where(enabled, q.y, self), q.inside | ~enabled};
}

std::tuple<Val, Val> fake_quantize_per_channel_affine_cachemask::decompose(
    Tracer& t, const Val& self, const Val& scale, const Val& zero_point, int64_t axis,
    int64_t quant_min, int64_t quant_max) {
  const Quantized q = per_channel_grid(t, self, scale, zero_point, axis, quant_min, quant_max);
  return {q.y, q.inside};
}

Val fake_quantize_per_channel_affine::decompose(Tracer& t, const Val& self, const Val& scale,
                                                const Val& zero_point, int64_t axis,
                                                int64_t quant_min, int64_t quant_max) {
  return per_channel_grid(t, self, scale, zero_point, axis, quant_min, quant_max).y;
}

Val fake_quantize_per_tensor_affine_cachemask_backward::decompose(Tracer& t, const Val& grad,
                                                                  const Val& mask) {
  return masked_gradient(t, grad, mask);
}

Val fake_quantize_per_channel_affine_cachemask_backward::decompose(Tracer& t, const Val& grad,
                                                                   const Val& mask) {
  return masked_gradient(t, grad, mask);
}

Val _fake_quantize_learnable_per_tensor_affine::decompose(Tracer& t, const Val& self,
                                                          const Val& scale, const Val& zero_point,
                                                          int64_t quant_min, int64_t quant_max,
                                                          const ScalarArg& grad_factor) {
  const IntegerRange range = integer_range(quant_min, quant_max);
  require_quantizable(self, "fake_quantize_tensor_cachemask_kernel_type_handling");
  return quantized(self, first_of(scale), rounded_zero_point(first_of(zero_point), range), range).y;
}

Val _fake_quantize_learnable_per_channel_affine::decompose(Tracer& t, const Val& self,
                                                           const Val& scale, const Val& zero_point,
                                                           int64_t axis, int64_t quant_min,
                                                           int64_t quant_max,
                                                           const ScalarArg& grad_factor) {
  const IntegerRange range = integer_range(quant_min, quant_max);
  require_axis(self, axis);
  require_real("round_vml_cpu", zero_point);
  const Val zero = convert(rounded_zero_point(zero_point, range), DType::i32);
  return per_channel_grid(t, self, scale, zero, axis, quant_min, quant_max).y;
}

std::tuple<Val, Val, Val> _fake_quantize_learnable_per_tensor_affine_backward::decompose(
    Tracer& t, const Val& grad, const Val& self, const Val& scale, const Val& zero_point,
    int64_t quant_min, int64_t quant_max, double grad_factor) {
  require_learnable(grad, self);
  require_learned(self, scale, zero_point);
  const IntegerRange range = integer_range(quant_min, quant_max);
  if (self.is_empty()) return {self, scale, zero_point};
  const LearnedGradients d =
      learned_gradients(grad, self, first_of(scale),
                        truncated_zero_point(first_of(zero_point), range), range, grad_factor);
  const auto total = [&](const Val& v) {
    return reshape(reduce(Prim::reduce_sum, v, dims_from(0, v.rank()), false), {1});
  };
  return {d.x, total(d.scale), total(d.zero_point)};
}

std::tuple<Val, Val, Val> _fake_quantize_learnable_per_channel_affine_backward::decompose(
    Tracer& t, const Val& grad, const Val& self, const Val& scale, const Val& zero_point,
    int64_t axis, int64_t quant_min, int64_t quant_max, double grad_factor) {
  require_learnable(grad, self);
  require_learned(self, scale, zero_point);
  const IntegerRange range = integer_range(quant_min, quant_max);
  require_channels(self, scale, zero_point, axis);
  if (self.is_empty()) return {self, scale, zero_point};
  const LearnedGradients d = learned_gradients(
      grad, self, along_axis(scale, self, axis),
      rounded_zero_point(along_axis(zero_point, self, axis), range), range, grad_factor);
  std::vector<int64_t> others = dims_from(0, axis);
  for (int64_t dim : dims_from(axis + 1, self.rank())) others.push_back(dim);
  if (others.empty()) others = {axis};  // ATen sums over all dims where there is no other
  const auto sum = [&](const Val& v) { return reduce(Prim::reduce_sum, v, others, false); };
  return {d.x, sum(d.scale), sum(d.zero_point)};
}

}  // namespace primset::decomps
