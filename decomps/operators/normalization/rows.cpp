// Normalisations over the last dims, and their gradients.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "decomps/engine/engine.h"
#include "decomps/operators/normalization.h"
#include "decomps/operators/normalization/channels.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

bool ends_with(const SymInts& shape, const SymInts& tail) {
  if (tail.size() > shape.size()) return false;
  return std::equal(tail.begin(), tail.end(),
                    shape.end() - static_cast<std::ptrdiff_t>(tail.size()));
}

void require_normalized_shape(const Val& x, const SymInts& normalized) {
  require(!normalized.empty(), ErrorCode::runtime,
          "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
          "element, but got normalized_shape = []");
  const std::string text = shape_text(normalized);
  require(
      ends_with(x.shape(), normalized), ErrorCode::runtime,
      fmt::format("Given normalized_shape={}, expected input with shape [*, {}, but got input of "
                  "size{}",
                  text, text.substr(1), shape_text(x.shape())));
}

void require_parameter(const std::optional<Val>& p, const SymInts& normalized, const char* what) {
  if (!p) return;
  const SymInts shape = p->shape();
  const bool fits = shape.size() == normalized.size() &&
                    std::equal(shape.begin(), shape.end(), normalized.begin());
  require(fits, ErrorCode::runtime,
          fmt::format("Expected {} to be of same shape as normalized_shape, but got {} of shape {} "
                      "and normalized_shape = {}",
                      what, what, shape_text(shape), shape_text(normalized)));
}

// Statistics keep the normalised dims with size 1.
Val with_ones(const Val& statistic, const Val& x, size_t count) {
  SymInts shape = x.shape();
  for (size_t i = shape.size() - count; i < shape.size(); ++i) shape[i] = 1;
  return reshape(statistic, shape);
}

// A number for each row of x, whatever shape it came in.
Val of_rows(const Val& statistic, const Val& x, size_t count, DType type, const char* what) {
  const SymInts whole = x.shape();
  const SymInts outer(whole.begin(), whole.end() - static_cast<std::ptrdiff_t>(count));
  require(statistic.numel() == prims::product(outer), ErrorCode::runtime,
          fmt::format("expected {} with a number for each of the rows {}, but got shape {}", what,
                      shape_text(outer), shape_text(statistic.shape())));
  return convert(reshape(statistic, outer), type);
}

std::vector<Val> layer_norm_values(Tracer& t, const Val& x, const SymInts& normalized,
                                   const std::optional<Val>& weight, const std::optional<Val>& bias,
                                   double eps) {
  require_normalized_shape(x, normalized);
  require_parameter(weight, normalized, "weight");
  require_parameter(bias, normalized, "bias");
  require_parameter_dtypes(x, {{"weight", weight}, {"bias", bias}});
  const DType kept = statistics_type(x, {weight, bias});
  auto out =
      t.prim(Prim::layer_norm, {convert(x, kept), operand(weight, kept), operand(bias, kept)},
             {{"dims", static_cast<int64_t>(normalized.size())}, {"eps", Scalar(eps)}});
  out[0] = convert(out[0], x.dtype());
  return out;
}

void require_gradient_of(const Val& grad, const Val& x) {
  require(equal_sizes(grad.shape(), x.shape()), ErrorCode::runtime,
          fmt::format("expected grad_out of the input's size {}, but got {}", shape_text(x.shape()),
                      shape_text(grad.shape())));
  require(grad.dtype() == x.dtype(), ErrorCode::runtime,
          fmt::format("expected scalar type {} but found {}", aten_name(x.dtype()),
                      aten_name(grad.dtype())));
}

double default_eps(DType t) {
  return real_type(t) == DType::f64 ? std::numeric_limits<double>::epsilon()
                                    : static_cast<double>(std::numeric_limits<float>::epsilon());
}

struct RmsNorm {
  Val y, rstd;  // rstd in opmath, with the normalised dims of size 1
};

// ATen squares complex numbers as they are; what it divides by is a complex root.
RmsNorm complex_rms_norm(Tracer& t, const Val& x, size_t dims, const std::optional<Val>& weight,
                         double eps) {
  std::vector<int64_t> inner;
  for (int64_t d = -static_cast<int64_t>(dims); d < 0; ++d) inner.push_back(d);
  const Val mean = t.call1("mean.dim", {x * x, inner, true});
  const Val rstd = t.call1("rsqrt", {mean + Scalar(eps)});
  const Val y = x * rstd;
  return {weight ? convert(y * *weight, x.dtype()) : y, rstd};
}

RmsNorm rms_norm_values(Tracer& t, const Val& x, const SymInts& normalized,
                        const std::optional<Val>& weight, const std::optional<double>& eps) {
  require_normalized_shape(x, normalized);
  require_parameter(weight, normalized, "weight");
  const double epsilon = eps.value_or(default_eps(x.dtype()));
  if (is_complex(x.dtype())) return complex_rms_norm(t, x, normalized.size(), weight, epsilon);
  if (!is_floating(x.dtype())) not_implemented_for("rms_norm", x.dtype());
  const Val wide = opmath(x);
  const auto out =
      t.prim(Prim::rms_norm, {wide, operand(weight, wide.dtype())},
             {{"dims", static_cast<int64_t>(normalized.size())}, {"eps", Scalar(epsilon)}});
  return {convert(out[0], x.dtype()), with_ones(out[1], x, normalized.size())};
}

}  // namespace

std::tuple<Val, Val, Val> native_layer_norm::decompose(Tracer& t, const Val& input,
                                                       const SymInts& normalized_shape,
                                                       const std::optional<Val>& weight,
                                                       const std::optional<Val>& bias, double eps) {
  const auto out = layer_norm_values(t, input, normalized_shape, weight, bias, eps);
  return {out[0], with_ones(out[1], input, normalized_shape.size()),
          with_ones(out[2], input, normalized_shape.size())};
}

Val layer_norm::decompose(Tracer& t, const Val& input, const SymInts& normalized_shape,
                          const std::optional<Val>& weight, const std::optional<Val>& bias,
                          double eps, bool cudnn_enable) {
  return layer_norm_values(t, input, normalized_shape, weight, bias, eps)[0];
}

std::tuple<Val, Val, Val> native_layer_norm_backward::decompose(
    Tracer& t, const Val& grad_out, const Val& input, const SymInts& normalized_shape,
    const Val& mean, const Val& rstd, const std::optional<Val>& weight,
    const std::optional<Val>& bias, const std::vector<bool>& output_mask) {
  require_normalized_shape(input, normalized_shape);
  require_parameter(weight, normalized_shape, "weight");
  require_parameter(bias, normalized_shape, "bias");
  require_gradient_of(grad_out, input);
  require_parameter_dtypes(input,
                           {{"mean", mean}, {"rstd", rstd}, {"weight", weight}, {"bias", bias}});
  const size_t dims = normalized_shape.size();
  const DType kept = statistics_type(input, {weight, mean, rstd});
  const auto out = t.prim(
      Prim::layer_norm_backward,
      {convert(grad_out, kept), convert(input, kept), of_rows(mean, input, dims, kept, "mean"),
       of_rows(rstd, input, dims, kept, "rstd"), operand(weight, kept)},
      {{"dims", static_cast<int64_t>(dims)}});
  return {output_mask[0] ? convert(out[0], input.dtype()) : no_gradient(input),
          output_mask[1] ? out[1] : no_gradient(out[1]),
          output_mask[2] ? out[2] : no_gradient(out[2])};
}

Val rms_norm::decompose(Tracer& t, const Val& input, const SymInts& normalized_shape,
                        const std::optional<Val>& weight, const std::optional<double>& eps) {
  return rms_norm_values(t, input, normalized_shape, weight, eps).y;
}

std::tuple<Val, Val> _fused_rms_norm::decompose(Tracer& t, const Val& input,
                                                const std::vector<int64_t>& normalized_shape,
                                                const std::optional<Val>& weight,
                                                const std::optional<double>& eps) {
  const SymInts shape(normalized_shape.begin(), normalized_shape.end());
  const RmsNorm out = rms_norm_values(t, input, shape, weight, eps);
  return {out.y, out.rstd};
}

// Of a weight that there is not there is no gradient.
std::tuple<Val, Val> _fused_rms_norm_backward::decompose(
    Tracer& t, const Val& grad_out, const Val& input, const std::vector<int64_t>& normalized_shape,
    const Val& rstd, const std::optional<Val>& weight, const std::vector<bool>& output_mask) {
  const SymInts shape(normalized_shape.begin(), normalized_shape.end());
  require_normalized_shape(input, shape);
  require_parameter(weight, shape, "weight");
  require_gradient_of(grad_out, input);
  const Val x = opmath(input);
  const auto out =
      t.prim(Prim::rms_norm_backward,
             {opmath(grad_out), x, of_rows(rstd, input, shape.size(), x.dtype(), "rstd"),
              operand(weight, x.dtype())},
             {{"dims", static_cast<int64_t>(shape.size())}});
  return {output_mask[0] ? convert(out[0], input.dtype()) : no_gradient(input),
          output_mask[1] && weight ? convert(out[1], input.dtype()) : no_gradient(input)};
}

}  // namespace primset::decomps
