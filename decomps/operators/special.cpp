// Operators that are no single special function.
#include "decomps/operators/special.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"
#include "decomps/operators/pointwise_binary.h"
#include "decomps/operators/pointwise_unary.h"
#include "decomps/primitives/special/approximation.h"

namespace primset::decomps {
namespace {

// The sum of log gamma at x, x - 1/2, ..., from `sum` on. Many terms are a loop: written one by
// one, four hundred take ten seconds to compile.
Val sum_of_log_gammas(const Val& x, Val sum, int64_t count) {
  constexpr int64_t kUnrolled = 16;
  const auto plus_term = [](const Val& total, const Val& at) {
    return total + unary(Prim::lgamma, at);
  };
  if (count <= kUnrolled || x.is_empty()) {
    for (int64_t i = 0; i < std::min(count, kUnrolled); ++i)
      sum = plus_term(sum, x - Scalar(0.5 * static_cast<double>(i)));
    return sum;
  }
  Tracer& t = x.tracer();
  const std::vector<prims::ValueType> params = {
      {DType::i64, {}}, {sum.dtype(), sum.shape()}, {x.dtype(), x.shape()}};
  const auto step = [&](const std::vector<Val>& v) -> std::vector<Val> {
    return {plus_term(v[1], v[2] - convert(v[0], v[2].dtype()) * Scalar(0.5)), v[2]};
  };
  return t.prim(Prim::for_loop, {sum, x}, {{"count", SymInt(count)}, {"stacked", int64_t{0}}},
                {t.region(params, step)})[0];
}

}  // namespace

Val polygamma::decompose(Tracer& t, int64_t n, const Val& self) {
  require(n >= 0, ErrorCode::runtime, "polygamma(n, x) does not support negative n.");
  return math::rounded(t.prim1(Prim::polygamma, {opmath(self)}, {{"n", n}}), self);
}

Val mvlgamma::decompose(Tracer&, const Val& self, int64_t p) {
  require(p >= 1, ErrorCode::runtime, "p has to be greater than or equal to 1");
  constexpr int64_t kMostTerms = int64_t{1} << 24;  // each takes a loop's iteration an element
  require(p <= kMostTerms, ErrorCode::value,
          fmt::format("mvlgamma: p is {}; at most {} terms are added", p, kMostTerms));
  const Val x = opmath(self);
  const auto order = static_cast<double>(p);
  const Val first = full_like(x, order * (order - 1) * std::log(std::numbers::pi) / 4);
  return math::rounded(sum_of_log_gammas(x, first, p), self);
}

// ATen composes it of operators that round. In the wide types that would lose the lower tail, for
// nothing.
Val special_ndtr::decompose(Tracer&, const Val& self) {
  if (opmath_type(self.dtype()) == self.dtype()) return unary(Prim::normal_cdf, self);
  const Val t = math::rounded(opmath(self) * Scalar(std::numbers::sqrt2 / 2), self);
  return (unary(Prim::erf, t) + Scalar(1.0)) * Scalar(0.5);
}

Val nextafter::decompose(Tracer& t, const Val& self, const Val& other) {
  if (!is_floating(self.dtype())) not_implemented_for("nextafter_cpu", self.dtype());
  return t.prim1(Prim::nextafter, {self, other});
}

std::tuple<Val, Val> frexp::decompose(Tracer& t, const Val& self) {
  require(is_floating(self.dtype()), ErrorCode::runtime,
          "torch.frexp() only supports floating-point dtypes");
  const auto parts = t.prim(Prim::frexp, {self});
  return {parts[0], parts[1]};
}

}  // namespace primset::decomps
