// Gradients of scans.
#include <numeric>

#include "decomps/engine/complex.h"
#include "decomps/engine/engine.h"
#include "decomps/operators/operator_support.h"
#include "decomps/operators/scan.h"

namespace primset::decomps {
namespace {

// The sums of all suffixes along dim.
Val suffix_sums(const Val& x, int64_t dim) {
  Tracer& t = x.tracer();
  const std::vector<int64_t> dims = {dim};
  return t.call1("flip", {t.call1("cumsum", {t.call1("flip", {x, dims}), dim}), dims});
}

}  // namespace

Val cummaxmin_backward::decompose(Tracer& t, const Val& grad, const Val& input, const Val& indices,
                                  int64_t dim) {
  if (input.is_empty()) return input;
  const int64_t d = wrap_dim(dim, input.rank());
  const Val index = at_least_1d(indices);
  std::vector<Val> places;
  for (int64_t k = 0; k < index.rank(); ++k)
    places.push_back(k == d ? index : t.iota(index.shape(), k, DType::i64));
  const Val none = at_least_1d(zeros(t, input.shape(), input.dtype()));
  return reshape(
      scattered(Prim::scatter_add, none, places, dims_from(0, none.rank()), at_least_1d(grad)),
      input.shape());
}

// The gradient by x_k is the sum over j >= k of grad_j times the product of all x_i up to j but
// x_k, conjugated. Before the first zero that is a sum of grad_j output_j divided by x_k; at it the
// product is that of a row which has 1 in its place; behind it nothing.
Val cumprod_backward::decompose(Tracer& t, const Val& grad, const Val& input, int64_t dim,
                                const Val& output) {
  if (input.numel() <= SymInt(1)) return grad;
  const int64_t d = wrap_dim(dim, input.rank());
  if (input.size(d) == SymInt(1)) return grad;
  const Val x = opmath(input), g = opmath(grad), zero = full_like(g, 0), one = full_like(x, 1);
  const Val is_zero = ~logical(x);
  const Val found = t.call1("cumsum", {is_zero, d});
  const Val before = eq(found, Scalar(0)), first = is_zero & eq(found, Scalar(1));
  const Val without = t.call1("cumprod", {where(first, one, x), d});
  // With a zero anywhere ATen looks at the input alone.
  const Val any = reduce(Prim::reduce_or, is_zero, dims_from(0, x.rank()), false);
  const Val products = where(any, without, opmath(output));
  const Val sums = suffix_sums(where(before, conj(products) * g, zero), d);
  const Val at_first = suffix_sums(where(before, zero, conj(without) * g), d);
  const Val quotient = sums / conj(where(before, x, one));
  return convert(where(before, quotient, where(first, at_first, zero)), grad.dtype());
}

}  // namespace primset::decomps
