#include "decomps/operators/normalization.h"

#include <fmt/format.h>

#include <limits>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

using Dims = std::vector<int64_t>;

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

std::optional<Val> converted(const std::optional<Val>& v, DType t) {
  return v ? std::optional(convert(*v, t)) : std::nullopt;
}

std::vector<Val> layer_norm_values(Tracer& t, const Val& x, const SymInts& normalized,
                                   const std::optional<Val>& weight, const std::optional<Val>& bias,
                                   double eps) {
  require_normalized_shape(x, normalized);
  require_parameter(weight, normalized, "weight");
  require_parameter(bias, normalized, "bias");
  const auto w = converted(weight, x.dtype()), b = converted(bias, x.dtype());
  return t.prim(Prim::layer_norm, {x, w.value_or(Val()), b.value_or(Val())},
                {{"dims", static_cast<int64_t>(normalized.size())}, {"eps", Scalar(eps)}});
}

// Parameters and running statistics have a number for each channel.
void require_per_channel(const Val& input, const SymInt& channels,
                         std::initializer_list<std::pair<const char*, std::optional<Val>>> list) {
  for (const auto& [what, v] : list) {
    require(!v || (v->rank() == 1 && v->size(0) == channels), ErrorCode::runtime,
            fmt::format("{} should contain {} elements, one for each channel of an input of shape "
                        "{}, but has shape {}",
                        what, channels.hint(), shape_text(input.shape()),
                        v ? shape_text(v->shape()) : ""));
  }
}

void require_batch(const Val& input, const std::optional<Val>& weight,
                   const std::optional<Val>& bias, const std::optional<Val>& running_mean,
                   const std::optional<Val>& running_var) {
  if (input.is_empty()) return;  // of which ATen asks nothing
  require(input.rank() >= 2, ErrorCode::runtime,
          fmt::format("expected input of at least 2 dimensions, a batch and its channels, but got "
                      "shape {}",
                      shape_text(input.shape())));
  require_per_channel(input, input.size(1),
                      {{"weight", weight},
                       {"bias", bias},
                       {"running_mean", running_mean},
                       {"running_var", running_var}});
  if (running_var && !is_floating(running_var->dtype()))
    not_implemented_for("batch_norm", running_var->dtype());
}

// A vector of channels beside [N, C, ...].
Val per_channel(const Val& v, int64_t rank) {
  SymInts shape(static_cast<size_t>(rank), SymInt(1));
  shape[1] = v.size(0);
  return reshape(v, shape);
}

// Scaled and shifted in opmath, rounded once.
Val normalized_by(Tracer& t, const Val& x, const Val& mean, const Val& rstd,
                  const std::optional<Val>& weight, const std::optional<Val>& bias) {
  const int64_t r = x.rank();
  Val y = (opmath(x) - per_channel(opmath(mean), r)) * per_channel(opmath(rstd), r);
  if (weight) y = y * per_channel(opmath(*weight), r);
  if (bias) y = y + per_channel(opmath(*bias), r);
  return convert(y, x.dtype());
}

Val inverse_root(Tracer& t, const Val& variance, const ScalarArg& eps) {
  const Val v = opmath(variance);
  return 1.0 / unary(Prim::sqrt, v + t.scalar(eps, v.dtype()));
}

// By statistics of the batch itself, which may be wider than opmath.
Val normalized_by_batch(Tracer& t, const Val& x, const Val& mean, const Val& rstd,
                        const std::optional<Val>& weight, const std::optional<Val>& bias) {
  const DType type = opmath_type(x.dtype());
  return normalized_by(t, x, convert(mean, type), convert(rstd, type), weight, bias);
}

Dims all_but_channels(const Val& x) {
  Dims dims{0};
  for (int64_t d = 2; d < x.rank(); ++d) dims.push_back(d);
  return dims;
}

// Over the batch, biased; in wide_opmath, as ATen computes them.
struct BatchStatistics {
  Val mean, variance;
};
BatchStatistics batch_statistics(Tracer& t, const Val& x) {
  require(!x.is_empty(), ErrorCode::runtime,
          fmt::format("input tensor must have at least one element, but got input_sizes = {}",
                      shape_text(x.shape())));
  const auto out = t.prim(Prim::var_mean, {wide_opmath(x)},
                          {{"dims", all_but_channels(x)}, {"correction", Scalar(0)}});
  return {out[1], out[0]};
}

// What statistics are kept in: the parameters' dtype when it is wider than the input's.
DType statistics_type(const Val& input, std::initializer_list<std::optional<Val>> parameters) {
  for (const auto& p : parameters) {
    if (p && is_half(input.dtype()) && !is_half(p->dtype())) return p->dtype();
  }
  return input.dtype();
}

Val empty(Tracer& t, DType d) {
  return t.constant(0, d, {SymInt(0)});
}

void require_inference(bool training, const char* op) {
  require(!training, ErrorCode::not_implemented,
          fmt::format("{}: training updates running statistics that its schema does not declare as "
                      "written; use _native_batch_norm_legit",
                      op));
}

Val group_normalized(Tracer& t, const Val& input, const std::optional<Val>& weight,
                     const std::optional<Val>& bias, const SymInt& n, const SymInt& c,
                     const SymInt& hxw, int64_t groups, double eps, Val* mean, Val* rstd) {
  require(groups > 0 && mod(c, groups) == SymInt(0), ErrorCode::runtime,
          fmt::format("Expected number of channels in input to be divisible by num_groups, but got "
                      "input of shape {} and num_groups={}",
                      shape_text(input.shape()), groups));
  require(!(n < SymInt(0)) && !(c < SymInt(0)) && input.numel() == n * c * hxw, ErrorCode::runtime,
          fmt::format("Expected an input of N * C * HxW = {} * {} * {} elements, but got one of "
                      "shape {}",
                      n.hint(), c.hint(), hxw.hint(), shape_text(input.shape())));
  require_per_channel(input, c, {{"weight", weight}, {"bias", bias}});
  const SymInts grouped{n, SymInt(groups), floor_div(c, groups) * hxw};
  const auto out = t.prim(Prim::layer_norm, {opmath(reshape(input, grouped)), Val(), Val()},
                          {{"dims", int64_t{1}}, {"eps", Scalar(eps)}});
  *mean = convert(out[1], input.dtype());
  *rstd = convert(out[2], input.dtype());
  Val y = reshape(out[0], {n, c, hxw});
  if (weight) y = y * per_channel(opmath(*weight), 3);
  if (bias) y = y + per_channel(opmath(*bias), 3);
  return reshape(convert(y, input.dtype()), input.shape());
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

Val rms_norm::decompose(Tracer& t, const Val& input, const SymInts& normalized_shape,
                        const std::optional<Val>& weight, const std::optional<double>& eps) {
  require_normalized_shape(input, normalized_shape);
  require_parameter(weight, normalized_shape, "weight");
  if (!is_floating(input.dtype())) not_implemented_for("rms_norm", input.dtype());
  const bool wide = input.dtype() == DType::f64;
  const double epsilon = wide ? std::numeric_limits<double>::epsilon()
                              : static_cast<double>(std::numeric_limits<float>::epsilon());
  return t.prim(Prim::rms_norm, {input, converted(weight, input.dtype()).value_or(Val())},
                {{"dims", static_cast<int64_t>(normalized_shape.size())},
                 {"eps", Scalar(eps.value_or(epsilon))}})[0];
}

std::tuple<Val, Val, Val> native_group_norm::decompose(Tracer& t, const Val& input,
                                                       const std::optional<Val>& weight,
                                                       const std::optional<Val>& bias, SymInt n,
                                                       SymInt c, SymInt hxw, int64_t group,
                                                       double eps) {
  Val mean, rstd;
  const Val y = group_normalized(t, input, weight, bias, n, c, hxw, group, eps, &mean, &rstd);
  return {y, mean, rstd};
}

Val group_norm::decompose(Tracer& t, const Val& input, int64_t num_groups,
                          const std::optional<Val>& weight, const std::optional<Val>& bias,
                          double eps, bool cudnn_enabled) {
  require(
      input.rank() >= 2, ErrorCode::runtime,
      fmt::format("Expected at least 2 dimensions for input tensor but received {}", input.rank()));
  const SymInts shape = input.shape();
  SymInt hxw = 1;
  for (size_t d = 2; d < shape.size(); ++d) hxw *= shape[d];
  Val mean, rstd;
  return group_normalized(t, input, weight, bias, shape[0], shape[1], hxw, num_groups, eps, &mean,
                          &rstd);
}

std::tuple<Val, Val, Val> _native_batch_norm_legit_no_training::decompose(
    Tracer& t, const Val& input, const std::optional<Val>& weight, const std::optional<Val>& bias,
    const Val& running_mean, const Val& running_var, const ScalarArg& momentum,
    const ScalarArg& eps) {
  require_batch(input, weight, bias, running_mean, running_var);
  const Val none = empty(t, statistics_type(input, {weight, bias, running_mean, running_var}));
  if (input.is_empty()) return {input, none, none};
  const Val rstd = inverse_root(t, running_var, eps);
  return {normalized_by(t, input, running_mean, rstd, weight, bias), none, none};
}

std::tuple<Val, Val, Val, Val, Val> _native_batch_norm_legit_functional::decompose(
    Tracer& t, const Val& input, const std::optional<Val>& weight, const std::optional<Val>& bias,
    const Val& running_mean, const Val& running_var, bool training, const ScalarArg& momentum,
    const ScalarArg& eps) {
  if (!training) {
    const auto [y, mean, rstd] = _native_batch_norm_legit_no_training::decompose(
        t, input, weight, bias, running_mean, running_var, momentum, eps);
    return {y, mean, rstd, running_mean, running_var};
  }
  require_batch(input, weight, bias, running_mean, running_var);
  const BatchStatistics s = batch_statistics(t, input);
  const Val rstd = inverse_root(t, s.variance, eps);
  const SymInt count = count_along(input, all_but_channels(input));
  const Val m = t.scalar(momentum, s.mean.dtype());
  const Val unbiased = s.variance * full_like(s.variance, count) / full_like(s.variance, count - 1);
  const auto mixed = [&](const Val& running, const Val& fresh) {
    const Val r = opmath(running);
    return convert(fresh * m + r * (1.0 - m), running.dtype());
  };
  const DType kept = statistics_type(input, {weight, bias, running_mean, running_var});
  return {normalized_by_batch(t, input, s.mean, rstd, weight, bias), convert(s.mean, kept),
          convert(rstd, kept), mixed(running_mean, s.mean), mixed(running_var, unbiased)};
}

std::tuple<Val, Val, Val> native_batch_norm::decompose(
    Tracer& t, const Val& input, const std::optional<Val>& weight, const std::optional<Val>& bias,
    const std::optional<Val>& running_mean, const std::optional<Val>& running_var, bool training,
    const ScalarArg& momentum, const ScalarArg& eps) {
  if (running_mean && running_var) {
    require_inference(training, "native_batch_norm");
    return _native_batch_norm_legit_no_training::decompose(t, input, weight, bias, *running_mean,
                                                           *running_var, momentum, eps);
  }
  require_batch(input, weight, bias, running_mean, running_var);
  const BatchStatistics s = batch_statistics(t, input);
  const Val rstd = inverse_root(t, s.variance, eps);
  const DType kept = statistics_type(input, {weight, bias});
  return {normalized_by_batch(t, input, s.mean, rstd, weight, bias), convert(s.mean, kept),
          convert(rstd, kept)};
}

Val batch_norm::decompose(Tracer& t, const Val& input, const std::optional<Val>& weight,
                          const std::optional<Val>& bias, const std::optional<Val>& running_mean,
                          const std::optional<Val>& running_var, bool training,
                          const ScalarArg& momentum, const ScalarArg& eps, bool cudnn_enabled) {
  // As ATen has it, which of a batch of nothing asks for no statistics.
  if (input.is_empty()) {
    const auto first = [&](const Val& v) {
      return t.call1("select.int", {v, int64_t{0}, SymInt(0)});
    };
    Val y = input;
    if (weight) y = t.call1("mul.Tensor", {y, first(*weight)});
    return bias ? t.call1("add.Tensor", {y, first(*bias)}) : y;
  }
  return std::get<0>(native_batch_norm::decompose(t, input, weight, bias, running_mean, running_var,
                                                  training, momentum, eps));
}

}  // namespace primset::decomps
