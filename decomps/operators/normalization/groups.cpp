// Normalisation over groups of channels, and its gradients.
#include <fmt/format.h>

#include "decomps/engine/engine.h"
#include "decomps/operators/normalization.h"
#include "decomps/operators/normalization/channels.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

void require_groups(const Val& input, const SymInt& n, const SymInt& c, const SymInt& hxw,
                    int64_t groups) {
  require(groups > 0 && mod(c, groups) == SymInt(0), ErrorCode::runtime,
          fmt::format("Expected number of channels in input to be divisible by num_groups, but got "
                      "input of shape {} and num_groups={}",
                      shape_text(input.shape()), groups));
  require(!(n < SymInt(0)) && !(c < SymInt(0)) && input.numel() == n * c * hxw, ErrorCode::runtime,
          fmt::format("Expected an input of N * C * HxW = {} * {} * {} elements, but got one of "
                      "shape {}",
                      n.hint(), c.hint(), hxw.hint(), shape_text(input.shape())));
}

std::vector<Val> group_norm_values(Tracer& t, const Val& input, const std::optional<Val>& weight,
                                   const std::optional<Val>& bias, const SymInt& n, const SymInt& c,
                                   const SymInt& hxw, int64_t groups, double eps) {
  require_groups(input, n, c, hxw, groups);
  require_per_channel(input, c, {{"weight", weight}, {"bias", bias}});
  require_parameter_dtypes(input, {{"weight", weight}, {"bias", bias}});
  const DType kept = statistics_type(input, {weight, bias});
  auto out = t.prim(
      Prim::group_norm,
      {convert(reshape(input, {n, c, hxw}), kept), operand(weight, kept), operand(bias, kept)},
      {{"groups", groups}, {"eps", Scalar(eps)}});
  out[0] = convert(reshape(out[0], input.shape()), input.dtype());
  return out;
}

}  // namespace

std::tuple<Val, Val, Val> native_group_norm::decompose(Tracer& t, const Val& input,
                                                       const std::optional<Val>& weight,
                                                       const std::optional<Val>& bias, SymInt n,
                                                       SymInt c, SymInt hxw, int64_t group,
                                                       double eps) {
  const auto out = group_norm_values(t, input, weight, bias, n, c, hxw, group, eps);
  return {out[0], out[1], out[2]};
}

Val group_norm::decompose(Tracer& t, const Val& input, int64_t num_groups,
                          const std::optional<Val>& weight, const std::optional<Val>& bias,
                          double eps, bool cudnn_enabled) {
  require(
      input.rank() >= 2, ErrorCode::runtime,
      fmt::format("Expected at least 2 dimensions for input tensor but received {}", input.rank()));
  const SymInts shape = input.shape();
  const SymInt hxw = prims::product(SymInts(shape.begin() + 2, shape.end()));
  return group_norm_values(t, input, weight, bias, shape[0], shape[1], hxw, num_groups, eps)[0];
}

std::tuple<Val, Val, Val> native_group_norm_backward::decompose(
    Tracer& t, const Val& grad_out, const Val& input, const Val& mean, const Val& rstd,
    const std::optional<Val>& weight, SymInt n, SymInt c, SymInt hxw, int64_t group,
    const std::vector<bool>& output_mask) {
  require_groups(input, n, c, hxw, group);
  require_groups(grad_out, n, c, hxw, group);
  require(grad_out.dtype() == input.dtype(), ErrorCode::runtime,
          fmt::format("Expected scalar types of X and dY are same, but got {} and {}",
                      aten_name(input.dtype()), aten_name(grad_out.dtype())));
  require_parameter_dtypes(input, {{"mean", mean}, {"rstd", rstd}, {"weight", weight}});
  require(!weight || weight->numel() == c, ErrorCode::runtime,
          fmt::format("Expected weight to have a number for each of {} channels, but got shape {}",
                      c.hint(), weight ? shape_text(weight->shape()) : ""));
  for (const Val* v : {&mean, &rstd}) {
    require(v->numel() == n * SymInt(group), ErrorCode::runtime,
            fmt::format("Expected mean and rstd to have N * group = {} * {} elements, but got "
                        "shape {}",
                        n.hint(), group, shape_text(v->shape())));
  }
  const DType kept = statistics_type(input, {weight, mean, rstd});
  const auto as = [&](const Val& v, const SymInts& shape) {
    return convert(reshape(v, shape), kept);
  };
  const SymInts whole{n, c, hxw}, statistic{n, SymInt(group)};
  const auto out = t.prim(Prim::group_norm_backward,
                          {as(grad_out, whole), as(input, whole), as(mean, statistic),
                           as(rstd, statistic), weight ? as(*weight, {c}) : Val()},
                          {{"groups", group}});
  return {
      output_mask[0] ? convert(reshape(out[0], input.shape()), input.dtype()) : no_gradient(input),
      output_mask[1] ? out[1] : no_gradient(out[1]), output_mask[2] ? out[2] : no_gradient(out[2])};
}

}  // namespace primset::decomps
