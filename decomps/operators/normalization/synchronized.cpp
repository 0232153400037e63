// Batch norm over several devices: each computes its own share's statistics, which all then join.
// PyTorch has these for CUDA only.
#include <fmt/format.h>

#include "decomps/engine/engine.h"
#include "decomps/operators/normalization.h"
#include "decomps/operators/normalization/batch.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

std::vector<Val> batch_moments(Tracer& t, const Val& input) {
  return t.prim(Prim::var_mean, {wide_opmath(input)},
                {{"dims", all_but_channels(input)}, {"correction", Scalar(0)}});
}

// The shares' means and reciprocal roots, [shares, C], joined by their counts (Chan, Golub and
// LeVeque, 1979): the variance of all is the mean of the variances and of the squared distances
// from the common mean.
struct Joined {
  Val mean, variance;
};
Joined joined_shares(const Val& mean, const Val& invstd, const Val& weights, double eps) {
  const Val share = unsqueeze(weights, 1), root = 1.0 / invstd;
  const auto mean_of = [&](const Val& v) {
    return reduce(Prim::reduce_sum, v * share, {0}, false);
  };
  const Val common = mean_of(mean), apart = mean - unsqueeze(common, 0);
  return {common, mean_of(root * root - eps + apart * apart)};
}

void require_shares(const Val& mean, const Val& invstd, const SymInt& channels) {
  for (const Val* v : {&mean, &invstd}) {
    require(v->rank() == 2 && v->size(1) == channels && v->size(0) == mean.size(0),
            ErrorCode::runtime,
            fmt::format("expected mean and invstd of one shape [shares, {} channels], but got {}",
                        channels.hint(), shape_text(v->shape())));
    if (!is_floating(v->dtype())) not_implemented_for("batch_norm_gather_stats", v->dtype());
  }
}

std::tuple<Val, Val> gathered(Tracer& t, const Val& input, const Val& mean, const Val& invstd,
                              const Val& counts, double eps) {
  require_batch(input, {});
  require_shares(mean, invstd, input.size(1));
  const Val wide_mean = wide_opmath(mean), wide_root = convert(invstd, wide_mean.dtype());
  const Val n = convert(counts, wide_mean.dtype());
  const Val total = reduce(Prim::reduce_sum, n, {0}, true);
  const Joined all = joined_shares(wide_mean, wide_root, n / total, eps);
  const DType type = opmath_type(mean.dtype());
  return {convert(all.mean, type), convert(inverse_root(all.variance, eps), type)};
}

}  // namespace

std::tuple<Val, Val> batch_norm_stats::decompose(Tracer& t, const Val& input, double eps) {
  require_batch(input, {});
  require_elements(input);
  const auto out = batch_moments(t, input);
  const DType type = opmath_type(input.dtype());
  return {convert(out[1], type), convert(inverse_root(out[0], eps), type)};
}

Val batch_norm_elemt::decompose(Tracer& t, const Val& input, const std::optional<Val>& weight,
                                const std::optional<Val>& bias, const Val& mean, const Val& invstd,
                                const ScalarArg& eps) {
  require_batch(input, {{"weight", weight}, {"bias", bias}, {"mean", mean}, {"invstd", invstd}});
  if (input.is_empty()) return input;
  return normalized_by(input, mean, invstd, weight, bias);
}

// The running statistics are folded behind the plan (fold_statistics).
std::tuple<Val, Val> batch_norm_gather_stats::decompose(Tracer& t, const Val& input,
                                                        const Val& mean, const Val& invstd,
                                                        const std::optional<Val>& running_mean,
                                                        const std::optional<Val>& running_var,
                                                        const ScalarArg& momentum, double eps,
                                                        int64_t count) {
  const Val one = t.constant(Scalar(1.0), opmath_type(mean.dtype()), {mean.size(0)});
  return gathered(t, input, mean, invstd, one, eps);
}

std::tuple<Val, Val> batch_norm_gather_stats_with_counts::decompose(
    Tracer& t, const Val& input, const Val& mean, const Val& invstd,
    const std::optional<Val>& running_mean, const std::optional<Val>& running_var,
    const ScalarArg& momentum, double eps, const Val& counts) {
  require(counts.numel() == mean.size(0), ErrorCode::runtime,
          fmt::format("expected a count for each of {} rows of mean, but got shape {}",
                      mean.size(0).hint(), shape_text(counts.shape())));
  return gathered(t, input, mean, invstd, reshape(counts, {mean.size(0)}), eps);
}

// sum_dy and sum_dy_xmu, and the gradients of weight and bias.
std::tuple<Val, Val, Val, Val> batch_norm_backward_reduce::decompose(
    Tracer& t, const Val& grad_out, const Val& input, const Val& mean, const Val& invstd,
    const std::optional<Val>& weight, bool input_g, bool weight_g, bool bias_g) {
  require_batch(input, {{"mean", mean}, {"invstd", invstd}, {"weight", weight}});
  require(equal_sizes(grad_out.shape(), input.shape()), ErrorCode::runtime,
          fmt::format("expected grad_out of the input's size {}, but got {}",
                      shape_text(input.shape()), shape_text(grad_out.shape())));
  const Val g = opmath(grad_out);
  const Val deviation = opmath(input) - per_channel(opmath(mean), input.rank());
  const auto sum = [&](const Val& v) {
    return reduce(Prim::reduce_sum, v, all_but_channels(input), false);
  };
  const Val sum_dy = sum(g), sum_dy_xmu = sum(g * deviation);
  const DType kept = weight ? weight->dtype() : input.dtype();
  const Val none = no_gradient(mean), no_parameter = zeros(t, {SymInt(0)}, kept);
  return {input_g ? convert(sum_dy, mean.dtype()) : none,
          input_g ? convert(sum_dy_xmu, mean.dtype()) : none,
          weight_g ? convert(sum_dy_xmu * opmath(invstd), kept) : no_parameter,
          bias_g ? convert(sum_dy, kept) : no_parameter};
}

Val batch_norm_backward_elemt::decompose(Tracer& t, const Val& grad_out, const Val& input,
                                         const Val& mean, const Val& invstd,
                                         const std::optional<Val>& weight, const Val& sum_dy,
                                         const Val& sum_dy_xmu, const Val& count) {
  require_batch(input, {{"mean", mean},
                        {"invstd", invstd},
                        {"weight", weight},
                        {"sum_dy", sum_dy},
                        {"sum_dy_xmu", sum_dy_xmu}});
  if (input.is_empty()) return input;
  const int64_t rank = input.rank();
  const Val g = opmath(grad_out), root = opmath(invstd);
  const Val all = convert(flattened(count), g.dtype());
  const Val total = reduce(Prim::reduce_sum, all, {0}, true);
  const auto a_channel = [&](const Val& v) { return per_channel(v, rank); };
  const Val deviation = opmath(input) - a_channel(opmath(mean));
  const Val slope = opmath(sum_dy_xmu) / total * root * root;
  const Val dx = g - a_channel(opmath(sum_dy) / total) - deviation * a_channel(slope);
  const Val scale = weight ? root * opmath(*weight) : root;
  return convert(dx * a_channel(scale), input.dtype());
}

}  // namespace primset::decomps
