// Optimizer steps over whole lists of parameters, and the gradient scaling that goes with them. A
// step that found an infinite gradient is skipped as a whole: nothing is read or written for it.
#include "decomps/operators/fused_optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

using List = std::vector<Val>;
// The lists that a step may change: the parameters, their gradients, then what the optimizer keeps.
using Lists = std::vector<List>;
constexpr size_t kParam = 0, kGrad = 1, kState = 2;

struct NamedList {
  const char* name;
  const List& list;
};

// How gradients are taken, and when not at all.
struct Gradients {
  bool maximize;
  const std::optional<Val>& scale;
  const std::optional<Val>& found_inf;
};

// The elements of all lists for one parameter, in what is computed in; gives their new values.
using Update = std::function<List(size_t, List)>;
// Made where the step is: what it computes for all parameters is skipped with it.
using MakeUpdate = std::function<Update()>;

// --- what is refused ---

void require_length(bool ok, const char* condition) {
  require(ok, ErrorCode::runtime, fmt::format("Expected {} to be true, but got false.", condition));
}

void require_float(const Val& v) {
  require(v.dtype() == DType::f32, ErrorCode::runtime,
          fmt::format("expected scalar type Float but found {}", aten_name(v.dtype())));
}

// A tensor of one element as a number.
Val number_of(const Val& v, const char* name) {
  require(v.numel() == SymInt(1), ErrorCode::runtime,
          fmt::format("{} must be a 1-element tensor.", name));
  return reshape(v, {});
}

void require_parameters(const char* kernel, const List& params) {
  for (const Val& p : params) {
    if (!is_floating(p.dtype()) || bits(p.dtype()) < 16) not_implemented_for(kernel, p.dtype());
  }
}

// As many as the parameters, each of its parameter's dtype and sizes.
void require_beside(const List& params, const NamedList& named) {
  require_length(named.list.size() == params.size(),
                 fmt::format("{}.size() == n_tensors", named.name).c_str());
  for (size_t i = 0; i < params.size(); ++i) {
    const Val &p = params[i], &v = named.list[i];
    require(v.dtype() == p.dtype(), ErrorCode::runtime,
            fmt::format("expected scalar type {} but found {}", aten_name(p.dtype()),
                        aten_name(v.dtype())));
    require(equal_sizes(v.shape(), p.shape()), ErrorCode::runtime,
            fmt::format("expected {}[{}] to have the sizes {} of its parameter, but got {}",
                        named.name, i, shape_text(p.shape()), shape_text(v.shape())));
  }
}

Lists checked(const char* kernel, const List& params, std::initializer_list<NamedList> others) {
  require_parameters(kernel, params);
  Lists lists{params};
  for (const NamedList& other : others) {
    require_beside(params, other);
    lists.push_back(other.list);
  }
  return lists;
}

// --- what all steps share ---

// The lists as they are where `skipped` holds, else after the step.
Lists unless(Tracer& t, const Val& skipped, const Lists& lists,
             const std::function<Lists(const Lists&)>& step) {
  List operands{skipped};
  std::vector<prims::ValueType> types;
  for (const List& list : lists) {
    for (const Val& v : list) {
      operands.push_back(v);
      types.push_back({v.dtype(), v.shape()});
    }
  }
  const size_t n = lists[kParam].size();
  auto split = [&](const List& all) {
    Lists out;
    for (size_t at = 0; at < all.size(); at += n)
      out.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(at),
                       all.begin() + static_cast<std::ptrdiff_t>(at + n));
    return out;
  };
  auto kept = t.region(types, [](const List& all) { return all; });
  auto stepped = t.region(types, [&](const List& all) {
    List out;
    for (const List& list : step(split(all))) out.insert(out.end(), list.begin(), list.end());
    return out;
  });
  return split(t.prim(Prim::cond, operands, {}, {std::move(kept), std::move(stepped)}));
}

// One parameter after another. What is left in the gradients is divided by their scale, no more.
Lists after_step(const Lists& lists, const Gradients& how, const MakeUpdate& make) {
  const Update update = make();
  Lists next = lists;
  for (size_t i = 0; i < lists[kParam].size(); ++i) {
    List x;
    for (const List& list : lists) x.push_back(opmath(list[i]));
    if (how.scale) {
      x[kGrad] = x[kGrad] / convert(number_of(*how.scale, "grad_scale"), x[kGrad].dtype());
      next[kGrad][i] = convert(x[kGrad], lists[kGrad][i].dtype());
    }
    if (how.maximize) x[kGrad] = -x[kGrad];
    const List y = update(i, std::move(x));
    for (size_t k = 0; k < lists.size(); ++k) {
      if (k != kGrad) next[k][i] = convert(y[k], lists[k][i].dtype());
    }
  }
  return next;
}

Lists run(Tracer& t, const Lists& lists, const Gradients& how, const MakeUpdate& make) {
  if (how.scale) require_float(*how.scale);
  if (how.found_inf) require_float(*how.found_inf);
  if (lists[kParam].empty()) return lists;
  auto step = [&](const Lists& now) { return after_step(now, how, make); };
  if (!how.found_inf) return step(lists);
  return unless(t, eq(number_of(*how.found_inf, "found_inf"), Scalar(1.0)), lists, step);
}

// Without a decay even an infinite parameter adds nothing.
Val with_decay(const Val& grad, const Val& param, const Val& weight_decay) {
  return where(ne(weight_decay, Scalar(0.0)), grad + param * weight_decay, grad);
}

Val learning_rate(Tracer& t, const ScalarArg& lr) {
  return t.scalar(lr, DType::f64);
}
Val learning_rate(Tracer&, const Val& lr) {
  return convert(number_of(lr, "lr"), DType::f64);
}

// The number of steps so far, which counts in f32.
Val steps_of(const Val& state_step) {
  return convert(convert(number_of(state_step, "state_steps"), DType::f32), DType::f64);
}

// --- SGD ---

struct SgdRates {
  const ScalarArg &weight_decay, &momentum, &dampening;
  bool nesterov, is_first_step;
};

// A momentum of 0 comes without buffers, any other with one a parameter.
void check_momentum(Tracer& t, const ScalarArg& momentum, bool buffers) {
  const Val m = t.scalar(momentum, DType::f64);
  check(buffers ? ne(m, Scalar(0.0)) : eq(m, Scalar(0.0)), t.constant(0, DType::i64),
        ErrorCode::runtime,
        fmt::format("Expected momentum_buffer_list.{} to be true, but got false.",
                    buffers ? "empty()" : "size() == n_tensors"));
}

std::tuple<List, List, List> sgd(Tracer& t, const List& self, const List& grads,
                                 const List& buffers, const SgdRates& r, const Val& lr,
                                 const Gradients& how) {
  Lists lists = checked("fused_sgd_kernel", self, {{"grads", grads}});
  if (!self.empty()) check_momentum(t, r.momentum, !buffers.empty());
  if (!buffers.empty()) {
    require_beside(self, {"momentum_buffer_list", buffers});
    lists.push_back(buffers);
  }
  Update update = [&](size_t, List x) {
    const DType c = x[kParam].dtype();
    Val g = with_decay(x[kGrad], x[kParam], t.scalar(r.weight_decay, c));
    if (!buffers.empty()) {
      const Val momentum = t.scalar(r.momentum, c);
      const Val taken = convert(Scalar(1.0) - t.scalar(r.dampening, DType::f64), c);
      Val& buffer = x[kState];
      buffer = r.is_first_step ? g : buffer * momentum + g * taken;
      g = r.nesterov ? g + buffer * momentum : buffer;
    }
    x[kParam] = x[kParam] - g * convert(lr, c);
    return x;
  };
  const Lists out = run(t, lists, how, [&] { return update; });
  return {out[kParam], out[kGrad], buffers.empty() ? List() : out[kState]};
}

// --- Adam ---

struct AdamRates {
  const ScalarArg &beta1, &beta2, &weight_decay, &eps;
  bool amsgrad;
  bool decoupled;  // AdamW: the decay does not go through the gradient
};

// Both moments start from zero, for which the first steps make up.
struct Corrections {
  Val step_size, root;  // f64
};

// Those of a few parameters are computed together: numbers apiece would be a launch apiece.
std::vector<Corrections> corrections(Tracer& t, const AdamRates& r, const Val& lr,
                                     const List& state_steps) {
  constexpr size_t kTogether = 8;
  auto as_matrix = [](const Val& number) { return reshape(number, {1, 1}); };
  auto logarithm = [&](const ScalarArg& beta) {
    return as_matrix(unary(Prim::log, t.scalar(beta, DType::f64)));
  };
  const Val logs = concatenate({logarithm(r.beta1), logarithm(r.beta2)}, 0);
  const Val is_first = eq(t.iota({2, 1}, 0, DType::i64), Scalar(0));
  std::vector<Corrections> out;
  for (size_t first = 0; first < state_steps.size(); first += kTogether) {
    List steps;
    for (size_t i = first; i < std::min(first + kTogether, state_steps.size()); ++i)
      steps.push_back(as_matrix(steps_of(state_steps[i])));
    // 1 - beta^steps, also in f32 (narrow_floats.h), where beta^steps may be next to 1.
    const Val missing = -unary(Prim::expm1, logs * concatenate(steps, 1));
    const Val both = where(is_first, lr / missing, unary(Prim::sqrt, missing));
    for (size_t i = 0; i < steps.size(); ++i) {
      const Val pair = select(both, 1, static_cast<int64_t>(i));
      out.push_back({select(pair, 0, 0), select(pair, 0, 1)});
    }
  }
  return out;
}

// From `a` towards `b`, exact at both ends.
Val between(const Val& a, const Val& b, const Val& weight) {
  const Val near = lt(weight, Scalar(0.5));
  return where(near, weight, weight - Scalar(1.0)) * (b - a) + where(near, a, b);
}

using AdamLists = std::tuple<List, List, List, List, List>;

// The first moment, the second and, with AMSGrad, the greatest second one so far.
List adam_update(Tracer& t, const AdamRates& r, const Val& lr, const Corrections& at, List x) {
  const DType c = x[kParam].dtype();
  auto rest = [&](const ScalarArg& beta) {
    return convert(Scalar(1.0) - t.scalar(beta, DType::f64), c);
  };
  Val &p = x[kParam], &g = x[kGrad], &mean = x[kState], &square = x[kState + 1];
  const Val decay = t.scalar(r.weight_decay, DType::f64);
  if (r.decoupled)
    p = p * convert(Scalar(1.0) - lr * decay, c);
  else
    g = with_decay(g, p, convert(decay, c));
  mean = between(mean, g, rest(r.beta1));
  square = square * t.scalar(r.beta2, c) + g * g * rest(r.beta2);
  if (r.amsgrad) x.back() = binary(Prim::max, x.back(), square);
  const Val spread = unary(Prim::sqrt, x.back()) / convert(at.root, c) + t.scalar(r.eps, c);
  p = p - convert(at.step_size, c) * mean / spread;
  return x;
}

AdamLists adam(Tracer& t, Lists lists, const List& maxima, const List& steps, const AdamRates& r,
               const Val& lr, const Gradients& how) {
  if (r.amsgrad) {
    require_beside(lists[kParam], {"max_exp_avg_sqs", maxima});
    lists.push_back(maxima);
  }
  require_length(r.amsgrad || maxima.empty(), "max_exp_avg_sqs.empty()");
  require_length(steps.size() == lists[kParam].size(), "state_steps.size() == n_tensors");
  const Lists out = run(t, lists, how, [&]() -> Update {
    return [&, made = corrections(t, r, lr, steps)](size_t i, List x) {
      return adam_update(t, r, lr, made[i], std::move(x));
    };
  });
  return {out[0], out[1], out[2], out[3], r.amsgrad ? out[4] : List()};
}

Lists adam_lists(const List& self, const List& grads, const List& exp_avgs,
                 const List& exp_avg_sqs) {
  return checked("fused_adam_kernel", self,
                 {{"grads", grads}, {"exp_avgs", exp_avgs}, {"exp_avg_sqs", exp_avg_sqs}});
}

// --- Adagrad ---

struct AdagradRates {
  const ScalarArg &lr_decay, &weight_decay, &eps;
};

std::tuple<List, List, List> adagrad(Tracer& t, const List& self, const List& grads,
                                     const List& sums, const List& steps, const AdagradRates& r,
                                     const Val& lr, const Gradients& how) {
  const Lists lists =
      checked("fused_adagrad_kernel", self, {{"grads", grads}, {"state_sums", sums}});
  require_length(steps.size() == self.size(), "state_steps.size() == n_tensors");
  Update update = [&](size_t i, List x) {
    const DType c = x[kParam].dtype();
    const Val before = steps_of(steps[i]) - Scalar(1.0);
    const Val rate = convert(lr / (before * t.scalar(r.lr_decay, DType::f64) + Scalar(1.0)), c);
    const Val g = with_decay(x[kGrad], x[kParam], t.scalar(r.weight_decay, c));
    x[kState] = x[kState] + g * g;
    x[kParam] = x[kParam] - rate * g / (unary(Prim::sqrt, x[kState]) + t.scalar(r.eps, c));
    return x;
  };
  const Lists out = run(t, lists, how, [&] { return update; });
  return {out[kParam], out[kGrad], out[kState]};
}

// --- scaling ---

void require_one(const Val& v, const char* name, DType dtype, const char* dtype_name) {
  require(v.numel() == SymInt(1), ErrorCode::runtime,
          fmt::format("{} must be a 1-element tensor.", name));
  require(v.dtype() == dtype, ErrorCode::runtime,
          fmt::format("{} must be {} tensor.", name, dtype_name));
}

Val is_finite(const Val& x) {
  return lt(unary(Prim::abs, x), Scalar(std::numeric_limits<double>::infinity()));
}

}  // namespace

std::tuple<List, List, List> _fused_sgd::decompose(
    Tracer& t, const List& self, const List& grads, const List& momentum_buffer_list,
    const ScalarArg& weight_decay, const ScalarArg& momentum, const ScalarArg& lr,
    const ScalarArg& dampening, bool nesterov, bool maximize, bool is_first_step,
    const std::optional<Val>& grad_scale, const std::optional<Val>& found_inf) {
  return sgd(t, self, grads, momentum_buffer_list,
             {weight_decay, momentum, dampening, nesterov, is_first_step}, learning_rate(t, lr),
             {maximize, grad_scale, found_inf});
}

std::tuple<List, List, List> _fused_sgd_tensor_lr::decompose(
    Tracer& t, const List& self, const List& grads, const List& momentum_buffer_list,
    const ScalarArg& weight_decay, const ScalarArg& momentum, const Val& lr,
    const ScalarArg& dampening, bool nesterov, bool maximize, bool is_first_step,
    const std::optional<Val>& grad_scale, const std::optional<Val>& found_inf) {
  return sgd(t, self, grads, momentum_buffer_list,
             {weight_decay, momentum, dampening, nesterov, is_first_step}, learning_rate(t, lr),
             {maximize, grad_scale, found_inf});
}

// The learning rate is a number or a tensor of one element; AdamW's decay is decoupled.
#define PRIMSET_ADAM(name, LearningRate, decoupled)                                              \
  AdamLists name::decompose(                                                                     \
      Tracer& t, const List& self, const List& grads, const List& exp_avgs,                      \
      const List& exp_avg_sqs, const List& max_exp_avg_sqs, const List& state_steps,             \
      const LearningRate& lr, const ScalarArg& beta1, const ScalarArg& beta2,                    \
      const ScalarArg& weight_decay, const ScalarArg& eps, bool amsgrad, bool maximize,          \
      const std::optional<Val>& grad_scale, const std::optional<Val>& found_inf) {               \
    return adam(t, adam_lists(self, grads, exp_avgs, exp_avg_sqs), max_exp_avg_sqs, state_steps, \
                {beta1, beta2, weight_decay, eps, amsgrad, decoupled}, learning_rate(t, lr),     \
                {maximize, grad_scale, found_inf});                                              \
  }
PRIMSET_ADAM(_fused_adam, ScalarArg, false)
PRIMSET_ADAM(_fused_adam_tensor_lr, Val, false)
PRIMSET_ADAM(_fused_adamw, ScalarArg, true)
PRIMSET_ADAM(_fused_adamw_tensor_lr, Val, true)
#undef PRIMSET_ADAM

std::tuple<List, List, List, List> _fused_adagrad::decompose(
    Tracer& t, const List& self, const List& grads, const List& state_sums, const List& state_steps,
    const ScalarArg& lr, const ScalarArg& lr_decay, const ScalarArg& weight_decay,
    const ScalarArg& eps, bool maximize, const std::optional<Val>& grad_scale,
    const std::optional<Val>& found_inf) {
  auto [params, gradients, sums] =
      adagrad(t, self, grads, state_sums, state_steps, {lr_decay, weight_decay, eps},
              learning_rate(t, lr), {maximize, grad_scale, found_inf});
  return {std::move(params), std::move(gradients), std::move(sums), state_steps};
}

std::tuple<List, List, List> _fused_adagrad_tensor_lr::decompose(
    Tracer& t, const List& self, const List& grads, const List& state_sums, const List& state_steps,
    const Val& lr, const ScalarArg& lr_decay, const ScalarArg& weight_decay, const ScalarArg& eps,
    bool maximize, const std::optional<Val>& grad_scale, const std::optional<Val>& found_inf) {
  return adagrad(t, self, grads, state_sums, state_steps, {lr_decay, weight_decay, eps},
                 learning_rate(t, lr), {maximize, grad_scale, found_inf});
}

std::tuple<List, Val> _amp_foreach_non_finite_check_and_unscale::decompose(Tracer& t,
                                                                           const List& self,
                                                                           const Val& found_inf,
                                                                           const Val& inv_scale) {
  if (self.empty()) return {self, found_inf};
  require_one(inv_scale, "inv_scale", DType::f32, "a float");
  require_one(found_inf, "found_inf", DType::f32, "a float");
  const Val scale = reshape(inv_scale, {});
  Val found = t.constant(false, DType::boolean);
  List out;
  for (const Val& v : self) {
    if (!is_floating(v.dtype()) || bits(v.dtype()) < 16)
      not_implemented_for("_amp_foreach_non_finite_check_and_unscale_cpu", v.dtype());
    const Val x = opmath(v);
    found = found | reduce(Prim::reduce_or, ~is_finite(x), dims_from(0, x.rank()), false);
    const Val scaled = where(eq(scale, Scalar(1.0)), x, x * convert(scale, x.dtype()));
    out.push_back(convert(scaled, v.dtype()));
  }
  const Val one = t.constant(1.0, DType::f32, found_inf.shape());
  return {std::move(out), where(found, one, found_inf)};
}

std::tuple<Val, Val> _amp_update_scale::decompose(Tracer& t, const Val& self,
                                                  const Val& growth_tracker, const Val& found_inf,
                                                  const ScalarArg& scale_growth_factor,
                                                  const ScalarArg& scale_backoff_factor,
                                                  int64_t growth_interval) {
  require_one(growth_tracker, "growth_tracker", DType::i32, "an int");
  require_one(self, "current_scale", DType::f32, "a float");
  require_one(found_inf, "found_inf", DType::f32, "a float");
  const Val scale = reshape(self, {});
  auto times = [&](const ScalarArg& factor) {
    return convert(convert(scale, DType::f64) * t.scalar(factor, DType::f64), DType::f32);
  };
  const Val overflowed = ne(reshape(found_inf, {}), Scalar(0.0));
  const Val steps = reshape(growth_tracker, {}) + Scalar(1);
  const Val due = eq(convert(steps, DType::i64), t.constant(growth_interval, DType::i64));
  const Val grown = times(scale_growth_factor);
  const Val kept = where(due & is_finite(grown), grown, scale);
  const Val next = where(overflowed, times(scale_backoff_factor), kept);
  const Val tracker = where(overflowed | due, t.constant(0, DType::i32), steps);
  return {reshape(next, self.shape()), reshape(tracker, growth_tracker.shape())};
}

}  // namespace primset::decomps
