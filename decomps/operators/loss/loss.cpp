// Losses that compare elements: a term each, then the mean, the sum or neither. Terms are computed
// in opmath, and rounded once.
#include "decomps/operators/loss.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "decomps/engine/engine.h"
#include "decomps/operators/loss/terms.h"
#include "decomps/operators/operator_support.h"
#include "decomps/primitives/math.h"

namespace primset::decomps {
namespace {

using math::number;

Val difference(const Val& self, const Val& target) {
  return opmath(self) - opmath(target);
}

Val scalar_of(Tracer& t, const ScalarArg& s, const Val& like) {
  return broadcast_to(t.scalar(s, like.dtype()), like.shape());
}

// The gradient of each term for a gradient of the loss: divided among the elements for the mean.
Val shared(const Val& grad_output, const Val& self, int64_t reduction) {
  const Val g = opmath(grad_output);
  if (reduction != kMean) return g;
  return g / full_like(g, self.numel());
}

// -1, 0 and 1 within the limit, and the slope's other values beyond.
Val clipped_slope(const Val& x, const Val& limit, const Val& inner) {
  const Val one = number(x, 1.0);
  return where(le(x, -limit), -one, where(ge(x, limit), one, inner));
}

}  // namespace

// --- differences ---

Val l1_loss::decompose(Tracer&, const Val& self, const Val& target, int64_t reduction) {
  const Val x = is_complex(self.dtype()) ? self - target : difference(self, target);
  const Val size = unary(Prim::abs, x);
  if (!is_integral(self.dtype())) return reduced_loss(size, reduction, real_type(self.dtype()));
  require(reduction != kMean, ErrorCode::runtime,
          fmt::format("mean(): could not infer output dtype. Input dtype must be either a floating "
                      "point or complex dtype. Got: {}",
                      aten_name(self.dtype())));
  if (reduction == kNone) return convert(size, self.dtype());
  return reduced_loss(accumulated(size, std::nullopt), reduction, DType::i64);
}

Val mse_loss::decompose(Tracer&, const Val& self, const Val& target, int64_t reduction) {
  const Val x = difference(self, target);
  return reduced_loss(x * x, reduction, self.dtype());
}

Val mse_loss_backward::decompose(Tracer&, const Val& grad_output, const Val& self,
                                 const Val& target, int64_t reduction) {
  const Val slope = difference(self, target) * Scalar(2.0);
  return convert(slope * shared(grad_output, self, reduction), self.dtype());
}

Val smooth_l1_loss::decompose(Tracer& t, const Val& self, const Val& target, int64_t reduction,
                              const ScalarArg& beta) {
  require_not_negative(t, beta, "smooth_l1_loss does not support negative values for beta.");
  const Val z = math::abs(difference(self, target)), b = scalar_of(t, beta, z);
  const Val near = z * z * Scalar(0.5) / b, far = z - b * Scalar(0.5);
  return reduced_loss(where(lt(z, b), near, far), reduction, self.dtype());
}

Val smooth_l1_loss_backward::decompose(Tracer& t, const Val& grad_output, const Val& self,
                                       const Val& target, int64_t reduction,
                                       const ScalarArg& beta) {
  const Val x = difference(self, target), b = scalar_of(t, beta, x);
  return convert(clipped_slope(x, b, x / b) * shared(grad_output, self, reduction), self.dtype());
}

Val huber_loss::decompose(Tracer& t, const Val& self, const Val& target, int64_t reduction,
                          const ScalarArg& delta) {
  check(gt(t.scalar(delta, DType::f64), Scalar(0.0)), t.constant(0, DType::i64), ErrorCode::runtime,
        "huber_loss does not support non-positive values for delta.");
  const Val z = math::abs(difference(self, target)), d = scalar_of(t, delta, z);
  const Val near = z * z * Scalar(0.5), far = d * (z - d * Scalar(0.5));
  return reduced_loss(where(le(z, d), near, far), reduction, self.dtype());
}

Val huber_loss_backward::decompose(Tracer& t, const Val& grad_output, const Val& self,
                                   const Val& target, int64_t reduction, const ScalarArg& delta) {
  const Val x = difference(self, target), d = scalar_of(t, delta, x);
  const Val slope = where(le(x, -d), -d, where(ge(x, d), d, x));
  return convert(slope * shared(grad_output, self, reduction), self.dtype());
}

// --- of probabilities ---

Val soft_margin_loss::decompose(Tracer&, const Val& self, const Val& target, int64_t reduction) {
  const Val x = opmath(self), y = opmath(target);
  return reduced_loss(math::log1p(math::exp(-y * x)), reduction, self.dtype());
}

Val soft_margin_loss_backward::decompose(Tracer&, const Val& grad_output, const Val& self,
                                         const Val& target, int64_t reduction) {
  const Val x = opmath(self), y = opmath(target), z = math::exp(-y * x);
  const Val slope = -(y * z) / (z + Scalar(1.0));
  return convert(slope * shared(grad_output, self, reduction), self.dtype());
}

namespace {

// Outside of [0, 1] the logarithms have no value.
void require_probabilities(const Val& x) {
  const Val inside = ge(x, Scalar(0.0)) & le(x, Scalar(1.0));
  check(inside, x.tracer().constant(0, DType::i64), ErrorCode::runtime,
        "all elements of input should be between 0 and 1");
}

Val real_weight(const Val& weight) {
  require(
      !is_complex(weight.dtype()), ErrorCode::runtime,
      fmt::format("Expected a weight of a real dtype, but found {}", aten_name(weight.dtype())));
  return opmath(weight);
}

Val weighted(const Val& term, const std::optional<Val>& weight) {
  return weight ? term * real_weight(*weight) : term;
}

}  // namespace

Val binary_cross_entropy::decompose(Tracer&, const Val& self, const Val& target,
                                    const std::optional<Val>& weight, int64_t reduction) {
  const Val x = opmath(self), y = opmath(target), least = number(x, -100.0);
  require_probabilities(x);
  const Val yes = math::max(math::log(x), least), no = math::max(math::log1p(-x), least);
  const Val term = (y - Scalar(1.0)) * no - y * yes;
  return reduced_loss(weighted(term, weight), reduction, self.dtype());
}

Val binary_cross_entropy_backward::decompose(Tracer&, const Val& grad_output, const Val& self,
                                             const Val& target, const std::optional<Val>& weight,
                                             int64_t reduction) {
  const Val x = opmath(self), y = opmath(target);
  const Val spread = math::max((Scalar(1.0) - x) * x, number(x, 1e-12));
  const Val slope = weighted((x - y) / spread, weight);
  return convert(slope * shared(grad_output, self, reduction), self.dtype());
}

Val binary_cross_entropy_with_logits::decompose(Tracer&, const Val& self, const Val& target,
                                                const std::optional<Val>& weight,
                                                const std::optional<Val>& pos_weight,
                                                int64_t reduction) {
  const Val x = opmath(self), y = opmath(target);
  const Val log_sigmoid = math::min(x, number(x, 0.0)) - math::log1p(math::exp(-math::abs(x)));
  Val cost = log_sigmoid;
  if (pos_weight) cost = ((real_weight(*pos_weight) - Scalar(1.0)) * y + Scalar(1.0)) * log_sigmoid;
  return reduced_loss(weighted((Scalar(1.0) - y) * x - cost, weight), reduction, self.dtype());
}

Val kl_div::decompose(Tracer&, const Val& self, const Val& target, int64_t reduction,
                      bool log_target) {
  const Val x = opmath(self), y = opmath(target);
  const Val term = log_target ? math::exp(y) * (y - x) : binary(Prim::xlogy, y, y) - y * x;
  return reduced_loss(term, reduction, self.dtype());
}

Val poisson_nll_loss::decompose(Tracer& t, const Val& input, const Val& target, bool log_input,
                                bool full, const ScalarArg& eps, int64_t reduction) {
  // A product of integers is one.
  const Val x = in_float(input), y = in_float(target);
  const Val product = in_float(opmath(target) * opmath(input));
  Val loss = log_input ? math::exp(x) - product : x - y * math::log(x + t.scalar(eps, x.dtype()));
  if (full) {
    if (is_complex(y.dtype())) not_implemented_for("le_cpu", y.dtype());
    // Stirling's formula for the logarithm of the factorial.
    const Val stirling =
        y * math::log(y) - y + math::log(y * Scalar(2 * std::numbers::pi)) * Scalar(0.5);
    loss = loss + where(le(y, Scalar(1.0)), number(y, 0.0), stirling);
  }
  return reduced_loss(loss, reduction,
                      is_complex(input.dtype()) ? input.dtype() : float_type(input));
}

// --- margins ---

Val hinge_embedding_loss::decompose(Tracer& t, const Val& self, const Val& target,
                                    const ScalarArg& margin, int64_t reduction) {
  const Val x = opmath(self), y = opmath(target), none = full_like(x, Scalar(0));
  const Val apart = math::max(t.scalar(margin, x.dtype()) - x, none);
  const Val term = where(ne(y, Scalar(1)), apart, none) + where(ne(y, Scalar(-1)), x, none);
  return reduced_loss(term, reduction, self.dtype());
}

Val margin_ranking_loss::decompose(Tracer& t, const Val& input1, const Val& input2,
                                   const Val& target, const ScalarArg& margin, int64_t reduction) {
  const Val x = in_float(-opmath(target) * (opmath(input1) - opmath(input2)));
  const Val term = math::max(x + t.scalar(margin, x.dtype()), number(x, 0.0));
  return reduced_loss(term, reduction, float_type(input1));
}

}  // namespace primset::decomps
