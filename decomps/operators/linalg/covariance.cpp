// Covariances and correlations of variables, a row each, over observations, a column each.
#include <fmt/format.h>

#include "decomps/engine/engine.h"
#include "decomps/operators/linalg.h"
#include "decomps/operators/operator_support.h"

namespace primset::decomps {
namespace {

void require_few_dims(const char* op, const Val& x) {
  require(x.rank() <= 2, ErrorCode::runtime,
          fmt::format("{}(): expected input to have two or fewer dimensions but got an input with "
                      "{} dimensions",
                      op, x.rank()));
}

void require_weights(const Val& w, const char* name, bool fits, const char* kind,
                     const SymInt& observations) {
  require(w.rank() <= 1, ErrorCode::runtime,
          fmt::format("cov(): expected {0} to have one or fewer dimensions but got {0} with {1} "
                      "dimensions",
                      name, w.rank()));
  require(fits, ErrorCode::runtime,
          fmt::format("cov(): expected {0} to have {1} dtype but got {0} with {2} dtype", name,
                      kind, aten_name(w.dtype())));
  require(w.numel() == observations, ErrorCode::runtime,
          fmt::format("cov(): expected {} to have the same numel as there are observations in the "
                      "input but got {} != {}",
                      name, w.numel().hint(), observations.hint()));
  check(ge(w, full_like(w, 0)), convert(w, DType::i64), ErrorCode::runtime,
        fmt::format("cov(): {} cannot be negative", name));
}

// How often each observation counts: by repetition, by importance, or both.
std::optional<Val> observation_weights(Tracer& t, const std::optional<Val>& repeated,
                                       const std::optional<Val>& important,
                                       const SymInt& observations) {
  if (repeated) {
    require_weights(*repeated, "fweights", is_integral(repeated->dtype()), "integral",
                    observations);
  }
  if (!important) return repeated;
  require_weights(*important, "aweights", is_floating(important->dtype()), "floating point",
                  observations);
  return repeated ? t.call1("mul.Tensor", {*repeated, *important}) : *important;
}

Val sum_of(Tracer& t, const Val& x) {
  return t.call1("sum", {x});
}

// What the products are divided by: the weight of all observations less the correction, and not
// below zero.
Val normalizer(Tracer& t, const Val& total, const std::optional<Val>& weights,
               const std::optional<Val>& important, int64_t correction) {
  Val less = t.constant(correction, DType::i64);
  if (weights && important && correction != 0) {
    const Val square = sum_of(t, t.call1("mul.Tensor", {*weights, *important}));
    less = t.call1("div.Tensor", {t.call1("mul.Tensor", {square, less}), total});
  }
  const Val norm = t.call1("sub.Tensor", {total, less});
  return where(le(norm, full_like(norm, 0)), full_like(norm, 0), norm);
}

Val squeezed(const Val& x) {
  Val out = x;
  for (int64_t d = x.rank() - 1; d >= 0; --d) {
    if (out.size(d) == SymInt(1)) out = squeeze(out, d);
  }
  return out;
}

}  // namespace

Val cov::decompose(Tracer& t, const Val& self, int64_t correction,
                   const std::optional<Val>& fweights, const std::optional<Val>& aweights) {
  require_few_dims("cov", self);
  require(!is_bool(self.dtype()), ErrorCode::runtime,
          "cov(): bool dtype is not supported for input");
  const Val x = self.rank() < 2 ? reshape(self, {1, self.numel()}) : self;
  const SymInt observations = x.size(1);
  const std::optional<Val> w = observation_weights(t, fweights, aweights, observations);
  const auto weighted = [&](const Val& v) { return w ? t.call1("mul.Tensor", {v, *w}) : v; };
  const Val total = w ? sum_of(t, *w) : t.constant(observations, DType::i64);
  if (w) {
    constexpr const char* kZero = "cov(): weights sum to zero, can't be normalized";
    require(!w->is_empty(), ErrorCode::runtime, kZero);
    check(ne(total, full_like(total, 0)), convert(total, DType::i64), ErrorCode::runtime, kZero);
  }
  const Val sums = t.call1("sum.dim_IntList", {weighted(x), std::vector<int64_t>{1}, true});
  const Val centered = t.call1("sub.Tensor", {x, t.call1("div.Tensor", {sums, total})});
  const Val products = t.call1("matmul", {centered, matrix_transpose(conj(weighted(centered)))});
  return squeezed(t.call1("div.Tensor", {products, normalizer(t, total, w, aweights, correction)}));
}

Val corrcoef::decompose(Tracer& t, const Val& self) {
  require_few_dims("corrcoef", self);
  const Val c = t.call1("cov", {self});
  if (c.rank() == 0) return t.call1("div.Tensor", {c, c});
  const Val variance = t.call1("linalg_diagonal", {c});
  const Val deviation = t.call1("sqrt", {real(variance)});
  const Val by_row = t.call1("div.Tensor", {c, unsqueeze(deviation, 1)});
  const Val r = t.call1("div.Tensor", {by_row, unsqueeze(deviation, 0)});
  const auto clipped = [&](const Val& v) {
    return t.call1("clamp", {v, t.literal(Scalar(-1)), t.literal(Scalar(1))});
  };
  return is_complex(r.dtype()) ? complex(clipped(real(r)), clipped(imag(r))) : clipped(r);
}

}  // namespace primset::decomps
