// Leaky units of random slopes.
#include <fmt/format.h>

#include <cmath>

#include "decomps/engine/engine.h"
#include "decomps/operators/activation.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

struct RandomSlopes {
  Val y, slopes;
};

// Below and at zero a slope drawn between lower and upper, elsewhere 1.
RandomSlopes random_slopes(Tracer& t, const Val& self, const ScalarArg& lower,
                           const ScalarArg& upper, const RngArg& generator) {
  const Val from = t.scalar(lower, DType::f64), to = t.scalar(upper, DType::f64);
  check(le(from, to), t.constant(0, DType::i64), ErrorCode::runtime,
        "Expected from <= to to be true, but got false");
  check(lt(unary(Prim::abs, to - from), HUGE_VAL), t.constant(0, DType::i64), ErrorCode::runtime,
        "Expected to - from <= std::numeric_limits<T>::max() to be true, but got false");
  const Val x = opmath(self);
  const RngArg stream = t.draw(self.numel(), generator);
  const Val unit = t.prim1(
      Prim::random_uniform, {stream.seed, stream.offset},
      {{"shape", self.shape()}, {"dtype", x.dtype()}, {"low", Scalar(0.0)}, {"high", Scalar(1.0)}});
  const Val drawn = unit * convert(to - from, x.dtype()) + convert(from, x.dtype());
  const Val slopes = where(le(x, 0.0), drawn, full_like(x, 1.0));
  return {convert(x * slopes, self.dtype()), convert(slopes, self.dtype())};
}

Val middle(Tracer& t, const ScalarArg& lower, const ScalarArg& upper, DType type) {
  return convert((t.scalar(lower, DType::f64) + t.scalar(upper, DType::f64)) * 0.5, type);
}

Val leaky(Tracer& t, const Val& self, const ScalarArg& lower, const ScalarArg& upper) {
  if (!is_floating(self.dtype())) not_implemented_for("leaky_relu_cpu", self.dtype());
  const Val x = opmath(self);
  return convert(where(gt(x, 0.0), x, x * middle(t, lower, upper, x.dtype())), self.dtype());
}

}  // namespace

std::tuple<Val, Val> rrelu_with_noise_functional::decompose(Tracer& t, const Val& self,
                                                            const Val& noise,
                                                            const ScalarArg& lower,
                                                            const ScalarArg& upper, bool training,
                                                            const RngArg& generator) {
  require(equal_sizes(self.shape(), noise.shape()), ErrorCode::runtime,
          fmt::format("noise tensor shape must match self tensor shape. Got self.shape = {} "
                      "noise.shape = {}",
                      shape_text(self.shape()), shape_text(noise.shape())));
  if (!training) return {leaky(t, self, lower, upper), noise};
  require(noise.dtype() == self.dtype(), ErrorCode::runtime,
          fmt::format("expected scalar type {} but found {}", aten_name(self.dtype()),
                      aten_name(noise.dtype())));
  const RandomSlopes r = random_slopes(t, self, lower, upper, generator);
  return {r.y, r.slopes};
}

Val rrelu::decompose(Tracer& t, const Val& self, const ScalarArg& lower, const ScalarArg& upper,
                     bool training, const RngArg& generator) {
  for (const auto& [bound, what] : {std::pair(&lower, "lower"), std::pair(&upper, "upper")}) {
    check(lt(unary(Prim::abs, t.scalar(*bound, DType::f64)), HUGE_VAL), t.constant(0, DType::i64),
          ErrorCode::runtime, fmt::format("rrelu: {} bound must be finite", what));
  }
  check(le(t.scalar(lower, DType::f64), t.scalar(upper, DType::f64)), t.constant(0, DType::i64),
        ErrorCode::runtime, "Lower bound should be less than or equal to the upper bound");
  if (!training) return leaky(t, self, lower, upper);
  return random_slopes(t, self, lower, upper, generator).y;
}

// The noise has the slopes.
Val rrelu_with_noise_backward::decompose(Tracer& t, const Val& grad_output, const Val& self,
                                         const Val& noise, const ScalarArg& lower,
                                         const ScalarArg& upper, bool training,
                                         bool self_is_result) {
  if (training) return t.call1("mul.Tensor", {grad_output, noise});
  const Val slope = middle(t, lower, upper, DType::f64);
  if (self_is_result) {
    check(ge(slope, 0.0), t.constant(0, DType::i64), ErrorCode::runtime,
          "In-place leakyReLu backward calculation is triggered with a negative slope which is not "
          "supported.");
  }
  ScalarArg negative_slope;
  negative_slope.value = Val(&t, slope.id(), true);
  return t.call1("leaky_relu_backward", {grad_output, self, negative_slope, self_is_result});
}

}  // namespace primset::decomps
