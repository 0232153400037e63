// Intrinsics of normalisations that fold the statistics of a batch into running ones, which their
// schemas do not declare as written.
#include <initializer_list>

#include "sdk/runtime/call/call.h"
#include "sdk/runtime/call/dispatch.h"
#include "sdk/runtime/call/intrinsics.h"

namespace primset::runtime {
namespace {

// A number of elements, where the program knows it, or a tensor that has it.
struct SampleSize {
  int64_t known = 0;
  Tensor computed;
};

Tensor retained(const TensorImpl* t) {
  if (!t) return {};
  return handle_of(*t);
}

Arg* argument_named(Call& call, std::string_view name) {
  const int i = call.op.overload.find_arg(name);
  return i < 0 ? nullptr : &call.args[static_cast<size_t>(i)];
}

Tensor tensor_named(Call& call, std::string_view name) {
  const Arg* a = argument_named(call, name);
  return a && a->kind == Arg::Kind::tensor ? retained(static_cast<const TensorImpl*>(a->pointer))
                                           : Tensor();
}

Tensor result_of(std::string_view op, std::initializer_list<Arg> args) {
  return call_operator(op, std::span<const Arg>(args.begin(), args.size()));
}

// running moves towards fresh by the share that momentum says.
void fold(const Tensor& running, const Tensor& fresh, double momentum) {
  if (!running.defined()) return;
  const Tensor value = result_of("to.dtype", {fresh, running.dtype(), false, false, std::nullopt});
  const Scalar share(momentum);
  result_of("lerp_.Scalar", {running, value, share});
}

SampleSize sample_size(Call& call) {
  const Tensor counts = tensor_named(call, "counts"), mean = tensor_named(call, "mean");
  if (counts.defined()) {
    const Tensor wide = result_of("to.dtype", {counts, mean.dtype(), false, false, std::nullopt});
    return {0, result_of("sum", {wide, std::nullopt})};
  }
  if (const Arg* count = argument_named(call, "count"))
    return {count->integer * mean.sizes()[0], {}};
  const Tensor input = tensor_named(call, "input");
  return {input.numel() / input.sizes()[1], {}};
}

// count / (count - 1) of a biased variance.
Tensor without_bias(const Tensor& variance, const SampleSize& n) {
  if (n.computed.defined()) {
    const Scalar one(1.0);
    const Tensor less = result_of("sub.Scalar", {n.computed, one, one});
    return result_of("mul.Tensor", {variance, result_of("div.Tensor", {n.computed, less})});
  }
  const double count = static_cast<double>(n.known);
  const Scalar factor(count / (count - 1));
  return result_of("mul.Scalar", {variance, factor});
}

// The biased variance: the second result, or what 1 / sqrt(variance + eps) was made of.
Tensor variance_of_result(Call& call) {
  const Tensor second = retained(call.results[1]);
  const Arg* eps = argument_named(call, "eps");
  if (!eps) return second;
  const Scalar minus_two(-2.0), epsilon(eps->floating), one(1.0);
  const Tensor squared = result_of("pow.Tensor_Scalar", {second, minus_two});
  return result_of("sub.Scalar", {squared, epsilon, one});
}

}  // namespace

// batch_norm_update_stats, batch_norm_gather_stats and batch_norm_gather_stats_with_counts.
void intrinsics::fold_statistics(Call& call) {
  const Tensor mean = tensor_named(call, "running_mean"),
               variance = tensor_named(call, "running_var");
  dispatch_planned(call);
  const double momentum = argument_named(call, "momentum")->floating;
  fold(mean, retained(call.results[0]), momentum);
  if (variance.defined())
    fold(variance, without_bias(variance_of_result(call), sample_size(call)), momentum);
}

// instance_norm: batch_norm of each sample's channels updates a copy of the statistics for each
// sample, whose means become the statistics.
void intrinsics::fold_instance_statistics(Call& call) {
  const Tensor input = tensor_named(call, "input"), mean = tensor_named(call, "running_mean"),
               variance = tensor_named(call, "running_var");
  const bool training = argument_named(call, "use_input_stats")->integer != 0;
  if (!training || !mean.defined() || !variance.defined() || input.sizes().size() < 2)
    return dispatch_planned(call);
  const int64_t samples[] = {input.sizes()[0]};
  const auto repeated = [&](const Tensor& v) {
    return v.defined() ? result_of("repeat", {v, IntList(samples)}) : Tensor();
  };
  std::vector<int64_t> shape(input.sizes().begin(), input.sizes().end());
  const std::vector<int64_t> sizes = shape, per_sample{shape[0], shape[1]}, batch{0};
  shape[1] *= shape[0];
  shape[0] = 1;
  const Tensor means = repeated(mean), variances = repeated(variance);
  const Tensor x = result_of("reshape", {input, IntList(shape)});
  const Tensor y = result_of(
      "batch_norm",
      {x, repeated(tensor_named(call, "weight")), repeated(tensor_named(call, "bias")), means,
       variances, true, *argument_named(call, "momentum"), *argument_named(call, "eps"), false});
  for (const auto& [kept, all] : {std::pair(mean, means), std::pair(variance, variances)}) {
    const Tensor rows = result_of("view", {all, IntList(per_sample)});
    const Tensor fresh = result_of("mean.dim", {rows, IntList(batch), false, std::nullopt});
    result_of("copy_", {kept, fresh, false});
  }
  call.add_result(result_of("view", {y, IntList(sizes)}), {});
}

}  // namespace primset::runtime
