// Poisson, binomial, gamma and Dirichlet numbers, and the derivatives of the last two by their
// parameters.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"
#include "decomps/operators/random.h"

namespace primset::decomps {
namespace {

void require_drawn_type(std::string_view kernel, const Val& x) {
  if (!is_floating(x.dtype())) not_implemented_for(kernel, x.dtype());
}

// One number for each element of the parameters, which have one shape and dtype.
Val drawn_of(Tracer& t, Prim prim, const RngArg& generator, const std::vector<Val>& parameters) {
  const RngArg stream = t.draw(parameters[0].numel(), generator);
  std::vector<Val> operands = {stream.seed, stream.offset};
  operands.insert(operands.end(), parameters.begin(), parameters.end());
  return t.prim1(prim, operands);
}

void require_same_dtype(const Val& x, const Val& like) {
  require(
      x.dtype() == like.dtype(), ErrorCode::runtime,
      fmt::format("Found dtype {} but expected {}", aten_name(x.dtype()), aten_name(like.dtype())));
}

// ATen lets no gamma number be less, which a Dirichlet sample divides by; NaN neither.
Val at_least_smallest(const Val& y, DType dtype) {
  const Val smallest = full_like(y, Scalar(std::ldexp(1.0, float_format(dtype).min_exponent())));
  return where(gt(y, smallest), y, smallest);
}

}  // namespace

Val poisson::decompose(Tracer& t, const Val& self, const RngArg& generator) {
  require_drawn_type("poisson_cpu", self);
  check(ge(self, Scalar(0.0)), convert(self, DType::i64), ErrorCode::runtime,
        "invalid Poisson rate, expected rate to be non-negative");
  return drawn_of(t, Prim::random_poisson, generator, {self});
}

Val binomial::decompose(Tracer& t, const Val& count, const Val& prob, const RngArg& generator) {
  for (const auto& [name, x] : {std::pair("count", count), std::pair("prob", prob)})
    require(is_floating(x.dtype()), ErrorCode::value,
            fmt::format("binomial only supports floating-point dtypes for {}, got: {}", name,
                        aten_name(x.dtype())));
  require_same_dtype(prob, count);
  const std::array shapes = {count.shape(), prob.shape()};
  const SymInts shape = broadcast_shapes(shapes);
  return drawn_of(t, Prim::random_binomial, generator,
                  {broadcast_to(count, shape), broadcast_to(prob, shape)});
}

Val _standard_gamma::decompose(Tracer& t, const Val& self, const RngArg& generator) {
  require_drawn_type("gamma_cpu", self);
  return at_least_smallest(drawn_of(t, Prim::random_gamma, generator, {self}), self.dtype());
}

// Gamma numbers over their sum, kept between 0 and 1.
Val _sample_dirichlet::decompose(Tracer& t, const Val& self, const RngArg& generator) {
  require_drawn_type("dirichlet", self);
  const DType dtype = self.dtype();
  const Val drawn = drawn_of(t, Prim::random_gamma, generator, {opmath(self)});
  const Val y = at_least_smallest(drawn, drawn.dtype());
  const Val sum = self.rank() == 0 ? y : reduce(Prim::reduce_sum, y, {self.rank() - 1}, true);
  const Val below_one =
      full_like(y, Scalar(1 - std::ldexp(0.5, -float_format(dtype).mantissa_bits)));
  return convert(binary(Prim::min, at_least_smallest(y / sum, dtype), below_one), dtype);
}

Val _standard_gamma_grad::decompose(Tracer& t, const Val& self, const Val& output) {
  require_drawn_type("_standard_gamma_grad_cpu", self);
  require_same_dtype(output, self);
  return t.prim1(Prim::gamma_grad, {self, output});
}

Val _dirichlet_grad::decompose(Tracer& t, const Val& x, const Val& alpha, const Val& total) {
  require_drawn_type("_dirichlet_grad_cpu", x);
  require_same_dtype(alpha, x);
  require_same_dtype(total, x);
  return t.prim1(Prim::dirichlet_grad, {x, alpha, total});
}

}  // namespace primset::decomps
