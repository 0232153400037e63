// Normalisation of channels over a batch, by its own statistics or running ones.
#include <fmt/format.h>

#include "decomps/engine/engine.h"
#include "decomps/operators/normalization.h"
#include "decomps/operators/normalization/batch.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {

void require_batch(const Val& input, NamedParameters parameters) {
  if (input.is_empty()) return;  // of which ATen asks nothing
  require(input.rank() >= 2, ErrorCode::runtime,
          fmt::format("expected input of at least 2 dimensions, a batch and its channels, but got "
                      "shape {}",
                      shape_text(input.shape())));
  require_per_channel(input, input.size(1), parameters);
  for (const auto& [what, v] : parameters) {
    if (v && !is_floating(v->dtype())) not_implemented_for("batch_norm", v->dtype());
  }
}

void require_elements(const Val& input) {
  require(!input.is_empty(), ErrorCode::runtime,
          fmt::format("input tensor must have at least one element, but got input_sizes = {}",
                      shape_text(input.shape())));
}

Val folded(const Val& running, const Val& fresh, const ScalarArg& momentum) {
  const Val value = opmath(fresh), m = running.tracer().scalar(momentum, value.dtype());
  return convert(value * m + opmath(running) * (1.0 - m), running.dtype());
}

Val unbiased(const Val& variance, const SymInt& count) {
  return variance * full_like(variance, count) / full_like(variance, count - 1);
}

namespace {

struct BatchNorm {
  Val y, mean, variance;  // the moments in opmath
};

BatchNorm batch_normalized(Tracer& t, const Val& input, const std::optional<Val>& mean,
                           const std::optional<Val>& variance, const std::optional<Val>& weight,
                           const std::optional<Val>& bias, double eps) {
  const Val x = opmath(input);
  const auto as_x = [&](const std::optional<Val>& v) { return operand(v, x.dtype()); };
  const auto out =
      t.prim(Prim::batch_norm, {x, as_x(mean), as_x(variance), as_x(weight), as_x(bias)},
             {{"eps", Scalar(eps)}});
  return {convert(out[0], input.dtype()), out[1], out[2]};
}

using Statistics = std::optional<Val>;

}  // namespace

std::tuple<Val, Val, Val> _native_batch_norm_legit_no_training::decompose(
    Tracer& t, const Val& input, const std::optional<Val>& weight, const std::optional<Val>& bias,
    const Val& running_mean, const Val& running_var, const ScalarArg& momentum, double eps) {
  require_batch(input, {{"weight", weight},
                        {"bias", bias},
                        {"running_mean", running_mean},
                        {"running_var", running_var}});
  require_parameter_dtypes(input, {{"weight", weight},
                                   {"bias", bias},
                                   {"running_mean", running_mean},
                                   {"running_var", running_var}});
  const Val none =
      t.constant(0, statistics_type(input, {weight, bias, running_mean, running_var}), {SymInt(0)});
  if (input.is_empty()) return {input, none, none};
  return {batch_normalized(t, input, running_mean, running_var, weight, bias, eps).y, none, none};
}

std::tuple<Val, Val, Val, Val, Val> _native_batch_norm_legit_functional::decompose(
    Tracer& t, const Val& input, const std::optional<Val>& weight, const std::optional<Val>& bias,
    const Val& running_mean, const Val& running_var, bool training, const ScalarArg& momentum,
    double eps) {
  if (!training) {
    const auto [y, mean, rstd] = _native_batch_norm_legit_no_training::decompose(
        t, input, weight, bias, running_mean, running_var, momentum, eps);
    return {y, mean, rstd, running_mean, running_var};
  }
  require_batch(input, {{"weight", weight},
                        {"bias", bias},
                        {"running_mean", running_mean},
                        {"running_var", running_var}});
  require_parameter_dtypes(input, {{"weight", weight},
                                   {"bias", bias},
                                   {"running_mean", running_mean},
                                   {"running_var", running_var}});
  require_elements(input);
  const BatchNorm n = batch_normalized(t, input, {}, {}, weight, bias, eps);
  const DType kept = statistics_type(input, {weight, bias, running_mean, running_var});
  const SymInt count = count_along(input, all_but_channels(input));
  return {n.y, convert(n.mean, kept), convert(inverse_root(n.variance, eps), kept),
          folded(running_mean, n.mean, momentum),
          folded(running_var, unbiased(n.variance, count), momentum)};
}

std::tuple<Val, Val, Val, Val, Val, Val> _batch_norm_with_update_functional::decompose(
    Tracer& t, const Val& input, const std::optional<Val>& weight, const std::optional<Val>& bias,
    const Val& running_mean, const Val& running_var, const ScalarArg& momentum, double eps) {
  const auto [y, mean, rstd, new_mean, new_var] = _native_batch_norm_legit_functional::decompose(
      t, input, weight, bias, running_mean, running_var, true, momentum, eps);
  return {y, mean, rstd, t.constant(0, DType::u8, {SymInt(0)}), new_mean, new_var};
}

std::tuple<Val, Val, Val, Val> _batch_norm_no_update::decompose(
    Tracer& t, const Val& input, const Statistics& weight, const Statistics& bias,
    const Statistics& running_mean, const Statistics& running_var, const ScalarArg& momentum,
    double eps) {
  require(running_mean && running_var, ErrorCode::runtime,
          "_batch_norm_no_update: expected running_mean and running_var, but got None");
  const auto [y, mean, rstd] = _native_batch_norm_legit_no_training::decompose(
      t, input, weight, bias, *running_mean, *running_var, momentum, eps);
  return {y, mean, rstd, t.constant(0, DType::u8, {SymInt(0)})};
}

std::tuple<Val, Val, Val> _native_batch_norm_legit_no_stats::decompose(
    Tracer& t, const Val& input, const std::optional<Val>& weight, const std::optional<Val>& bias,
    bool training, const ScalarArg& momentum, double eps) {
  require(training, ErrorCode::runtime,
          "running_mean must be defined in evaluation mode, but there is none where training is "
          "false");
  require_batch(input, {{"weight", weight}, {"bias", bias}});
  require_parameter_dtypes(input, {{"weight", weight}, {"bias", bias}});
  require_elements(input);
  const BatchNorm n = batch_normalized(t, input, {}, {}, weight, bias, eps);
  const DType kept = statistics_type(input, {weight, bias});
  return {n.y, convert(n.mean, kept), convert(inverse_root(n.variance, eps), kept)};
}

std::tuple<Val, Val, Val> native_batch_norm::decompose(
    Tracer& t, const Val& input, const std::optional<Val>& weight, const std::optional<Val>& bias,
    const std::optional<Val>& running_mean, const std::optional<Val>& running_var, bool training,
    const ScalarArg& momentum, double eps) {
  require(running_mean.has_value() == running_var.has_value(), ErrorCode::value,
          "running_mean and running_var must either both be None or neither be None");
  if (!running_mean) {
    return _native_batch_norm_legit_no_stats::decompose(t, input, weight, bias, training, momentum,
                                                        eps);
  }
  require(!training, ErrorCode::not_implemented,
          "native_batch_norm: training updates running statistics that its schema does not declare "
          "as written; use _native_batch_norm_legit");
  return _native_batch_norm_legit_no_training::decompose(t, input, weight, bias, *running_mean,
                                                         *running_var, momentum, eps);
}

Val batch_norm::decompose(Tracer& t, const Val& input, const std::optional<Val>& weight,
                          const std::optional<Val>& bias, const std::optional<Val>& running_mean,
                          const std::optional<Val>& running_var, bool training,
                          const ScalarArg& momentum, double eps, bool cudnn_enabled) {
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

// Each channel of each sample is a channel of one batch.
Val instance_norm::decompose(Tracer& t, const Val& input, const std::optional<Val>& weight,
                             const std::optional<Val>& bias, const std::optional<Val>& running_mean,
                             const std::optional<Val>& running_var, bool use_input_stats,
                             const ScalarArg& momentum, double eps, bool cudnn_enabled) {
  require(use_input_stats || (running_mean && running_var), ErrorCode::runtime,
          "Expected running_mean and running_var to be defined when use_input_stats is false");
  require(running_mean.has_value() == running_var.has_value(), ErrorCode::value,
          "running_mean and running_var must either both be None or neither be None");
  require(!use_input_stats || !running_mean, ErrorCode::not_implemented,
          "instance_norm: training updates running statistics that its schema does not declare as "
          "written");
  const SymInt samples = input.size(0), channels = samples * input.size(1);
  SymInts shape = input.shape();
  shape[0] = 1;
  shape[1] = channels;
  const auto repeated = [&](const std::optional<Val>& v) -> std::optional<Val> {
    if (!v) return std::nullopt;
    return t.call1("repeat", {*v, SymInts{samples}});
  };
  const Val y = batch_norm::decompose(t, reshape(input, shape), repeated(weight), repeated(bias),
                                      use_input_stats ? std::nullopt : repeated(running_mean),
                                      use_input_stats ? std::nullopt : repeated(running_var),
                                      use_input_stats, momentum, eps, cudnn_enabled);
  return reshape(y, input.shape());
}

// Mean and biased variance of each channel.
std::tuple<Val, Val> batch_norm_update_stats::decompose(Tracer& t, const Val& input,
                                                        const std::optional<Val>& running_mean,
                                                        const std::optional<Val>& running_var,
                                                        const ScalarArg& momentum) {
  require_elements(input);
  require(input.rank() >= 2, ErrorCode::index,
          "Dimension out of range (expected to be in range of [-1, 0], but got 1)");
  require_per_channel(input, input.size(1),
                      {{"running_mean", running_mean}, {"running_var", running_var}});
  const auto out = t.prim(Prim::var_mean, {wide_opmath(input)},
                          {{"dims", all_but_channels(input)}, {"correction", Scalar(0)}});
  const DType kept = statistics_type(input, {running_mean, running_var});
  return {convert(out[1], kept), convert(out[0], kept)};
}

}  // namespace primset::decomps
