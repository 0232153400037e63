// Gradients of batch norm.
#include <fmt/format.h>

#include "decomps/engine/engine.h"
#include "decomps/operators/normalization.h"
#include "decomps/operators/normalization/batch.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

void require_gradient_of_batch(const Val& grad, const Val& input) {
  require(equal_sizes(grad.shape(), input.shape()), ErrorCode::runtime,
          fmt::format("expected grad_out of the input's size {}, but got {}",
                      shape_text(input.shape()), shape_text(grad.shape())));
  require(grad.dtype() == input.dtype(), ErrorCode::runtime,
          fmt::format("expected scalar type {} but found {}", aten_name(input.dtype()),
                      aten_name(grad.dtype())));
}

}  // namespace

std::tuple<Val, Val, Val> native_batch_norm_backward::decompose(
    Tracer& t, const Val& grad_out, const Val& input, const std::optional<Val>& weight,
    const std::optional<Val>& running_mean, const std::optional<Val>& running_var,
    const std::optional<Val>& save_mean, const std::optional<Val>& save_invstd, bool train,
    double eps, const std::vector<bool>& output_mask) {
  require_gradient_of_batch(grad_out, input);
  const auto& mean = train ? save_mean : running_mean;
  const auto& spread = train ? save_invstd : running_var;
  require(mean && spread, ErrorCode::runtime,
          train ? "expected save_mean and save_invstd where train is true, but got None"
                : "expected running_mean and running_var where train is false, but got None");
  require_batch(input, {{"weight", weight}, {"mean", mean}, {"variance", spread}});
  require_parameter_dtypes(input, {{"weight", weight},
                                   {"running_mean", running_mean},
                                   {"running_var", running_var},
                                   {"mean", mean},
                                   {"variance", spread}});
  const DType kept =
      statistics_type(input, {weight, running_mean, running_var, save_mean, save_invstd});
  const Val x = opmath(input);
  const Val rstd = train ? opmath(*spread) : inverse_root(*spread, eps);
  const auto out = t.prim(Prim::batch_norm_backward,
                          {opmath(grad_out), x, convert(*mean, x.dtype()), convert(rstd, x.dtype()),
                           operand(weight, x.dtype())},
                          {{"of_batch", train}});
  const auto kept_gradient = [&](const Val& v) { return convert(v, kept); };
  return {output_mask[0] ? convert(out[0], input.dtype()) : no_gradient(input),
          kept_gradient(output_mask[1] ? out[1] : no_gradient(out[1])),
          kept_gradient(output_mask[2] ? out[2] : no_gradient(out[2]))};
}

std::tuple<Val, Val, Val> batch_norm_backward::decompose(
    Tracer& t, const Val& grad_out, const Val& input, const Val& weight,
    const std::optional<Val>& running_mean, const std::optional<Val>& running_var,
    const std::optional<Val>& save_mean, const std::optional<Val>& save_var, bool update,
    double eps, const std::vector<bool>& output_mask, const Val& reserve) {
  return native_batch_norm_backward::decompose(t, grad_out, input, weight, running_mean,
                                               running_var, save_mean, save_var, update, eps,
                                               output_mask);
}

}  // namespace primset::decomps
