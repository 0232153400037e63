// Softmax and its kin, gated units and dropout.
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

// The sum along dim, kept, in opmath.
Val sum_along(const Val& x, int64_t dim) {
  const int64_t d = wrap_dim(dim, x.rank());
  return x.rank() == 0 ? x : reduce(Prim::reduce_sum, x, {d}, true);
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
  const Val g = opmath(grad_output), y = opmath(output);
  return convert((g - sum_along(g * y, dim)) * y, input_dtype);
}

Val _log_softmax_backward_data::decompose(Tracer& t, const Val& grad_output, const Val& output,
                                          int64_t dim, DType input_dtype) {
  require(grad_output.dtype() == output.dtype(), ErrorCode::runtime,
          fmt::format("expected scalar type {} but found {}", aten_name(grad_output.dtype()),
                      aten_name(output.dtype())));
  const Val g = opmath(grad_output), y = opmath(output);
  return convert(g - unary(Prim::exp, y) * sum_along(g, dim), input_dtype);
}

Val hardtanh::decompose(Tracer& t, const Val& self, const ScalarArg& min_val,
                        const ScalarArg& max_val) {
  for (const ScalarArg* limit : {&min_val, &max_val}) {
    if (is_unsigned_integer(self.dtype()))
      require_not_negative(t, *limit,
                           "cannot do hardtanh on an unsigned type with negative limits");
  }
  const Val x = opmath(self);
  const Val lower = broadcast_to(t.scalar(min_val, x.dtype()), x.shape());
  const Val upper = broadcast_to(t.scalar(max_val, x.dtype()), x.shape());
  return convert(binary(Prim::min, binary(Prim::max, x, lower), upper), self.dtype());
}

Val celu::decompose(Tracer& t, const Val& self, const ScalarArg& alpha) {
  const Val x = opmath(self), a = t.scalar(alpha, x.dtype());
  check(ne(a, Scalar(0.0)), t.constant(0, DType::i64), ErrorCode::runtime,
        "ZeroDivisionError: alpha cannot be 0 for CELU");
  const Val scale = broadcast_to(a, x.shape());
  const Val inverse = broadcast_to(t.constant(1.0, x.dtype()) / a, x.shape());
  const Val below = unary(Prim::expm1, x * inverse) * scale;
  return convert(where(lt(x, Scalar(0.0)), below, x), self.dtype());
}

// The buffer has exp(-|self|), or is empty, as other devices than CPUs leave it.
Val log_sigmoid_backward::decompose(Tracer& t, const Val& grad_output, const Val& self,
                                    const Val& buffer) {
  for (const Val* v : {&grad_output, &buffer}) {
    require(v->dtype() == self.dtype(), ErrorCode::runtime,
            fmt::format("Found dtype {} but expected {}", aten_name(v->dtype()),
                        aten_name(self.dtype())));
  }
  if (!buffer.is_empty() || self.is_empty()) require_expandable(buffer.shape(), self.shape());
  const Val x = opmath(self);
  const Val z = buffer.is_empty() && !self.is_empty() ? unary(Prim::exp, -unary(Prim::abs, x))
                                                      : broadcast_to(opmath(buffer), self.shape());
  const Val share = z / (z + Scalar(1.0));
  const Val slope = where(lt(x, Scalar(0.0)), Scalar(1.0) - share, share);
  return convert(opmath(grad_output) * slope, grad_output.dtype());
}

Val softshrink::decompose(Tracer& t, const Val& self, const ScalarArg& lambd) {
  require_not_negative(t, lambd, "softshrink: lambd must not be negative");
  const Val x = opmath(self), l = broadcast_to(t.scalar(lambd, x.dtype()), x.shape());
  const Val inside = where(lt(x, -l), x + l, x * Scalar(0.0));
  return convert(where(gt(x, l), x - l, inside), self.dtype());
}

Val prelu::decompose(Tracer& t, const Val& self, const Val& weight) {
  require(self.dtype() == weight.dtype(), ErrorCode::runtime,
          fmt::format("prelu: Type promoting not supported. Got {} and {}", aten_name(self.dtype()),
                      aten_name(weight.dtype())));
  Val w = weight;
  if (weight.rank() == 1 && !(weight.numel() == SymInt(1))) {
    require(self.rank() > 0, ErrorCode::runtime, "Not allow zero-dim input tensor.");
    const SymInt channels = self.rank() >= 2 ? self.size(1) : SymInt(1);
    require(channels == weight.size(0), ErrorCode::runtime,
            fmt::format("Mismatch of parameter numbers and input channel size. Found parameter "
                        "numbers = {} and channel size = {}.",
                        weight.size(0).hint(), channels.hint()));
    SymInts shape(static_cast<size_t>(self.rank()), SymInt(1));
    if (shape.size() > 1) shape[1] = channels;
    w = reshape(weight, shape);
  } else if (self.rank() > 0 && weight.rank() <= 1) {
    w = reshape(weight, SymInts(static_cast<size_t>(self.rank()), SymInt(1)));
  }
  if (self.rank() == 0) w = reshape(w, {});
  const Val x = opmath(self);
  return convert(where(gt(x, 0.0), x, opmath(w) * x), self.dtype());
}

Val glu::decompose(Tracer& t, const Val& self, int64_t dim) {
  require(self.rank() > 0, ErrorCode::runtime, "glu does not support 0-dimensional tensors");
  const int64_t d = wrap_dim(dim, self.rank());
  const SymInt size = self.size(d);
  require(
      mod(size, 2) == SymInt(0), ErrorCode::runtime,
      fmt::format("Halving dimension must be even, but dimension {} is size {}", d, size.hint()));
  const SymInt half = floor_div(size, 2);
  const Val a = opmath(slice(self, d, 0, half, 1)), b = opmath(slice(self, d, half, size, 1));
  return convert(a * unary(Prim::sigmoid, b), self.dtype());
}

std::tuple<Val, Val> native_dropout::decompose(Tracer& t, const Val& input, double p,
                                               const std::optional<bool>& train) {
  if (input.is_empty()) return {input, input};  // so that the mask is no bool, as in ATen
  if (train && !*train) return {input, t.constant(true, DType::boolean, input.shape())};
  const RngArg rng = t.draw(input.numel());
  const auto out = t.prim(Prim::dropout, {rng.seed, rng.offset, input}, {{"p", Scalar(p)}});
  return {out[0], out[1]};
}

Val dropout::decompose(Tracer& t, const Val& input, double p, bool train) {
  require(p >= 0 && p <= 1, ErrorCode::runtime,
          fmt::format("dropout probability has to be between 0 and 1, but got {}", p));
  if (!train || p == 0) return input;
  return std::get<0>(native_dropout::decompose(t, input, p, true));
}

Val native_dropout_backward::decompose(Tracer& t, const Val& grad_output, const Val& mask,
                                       const ScalarArg& scale) {
  // Of numbers that are not floating the product is.
  const DType type = is_floating(grad_output.dtype()) ? grad_output.dtype() : DType::f32;
  const Val g = convert(grad_output, opmath_type(type));
  return convert(g * convert(mask, g.dtype()) * t.scalar(scale, g.dtype()), type);
}

}  // namespace primset::decomps
