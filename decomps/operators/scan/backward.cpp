// Gradients of scans.
#include "decomps/engine/complex/complex.h"
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
  return t.call1("scatter_add", {zeros(t, input.shape(), input.dtype()), dim, indices, grad});
}

// The gradient by x_k is the sum over j >= k of grad_j times the product of all x_i up to j but
// x_k, conjugated. Before the first zero that is a sum of grad_j output_j divided by x_k; at it the
// output before it times a sum, up to the second zero, of grad_j and the product of what is in
// between; behind it nothing.
Val cumprod_backward::decompose(Tracer& t, const Val& grad, const Val& input, int64_t dim,
                                const Val& output) {
  if (input.numel() <= SymInt(1)) return grad;
  require_sizes("cumprod_backward", "grad", grad, "input", input.shape());
  require_sizes("cumprod_backward", "output", output, "input", input.shape());
  const int64_t d = wrap_dim(dim, input.rank());
  const SymInt size = input.size(d);
  if (size == SymInt(1)) return grad;
  const Val x = opmath(input), y = opmath(output), g = opmath(grad);
  const Val zero = full_like(g, 0), one = full_like(x, 1);
  const Val is_zero = ~logical(x);
  const Val found = t.call1("cumsum", {is_zero, d});
  const Val before = eq(found, Scalar(0)), between_zeros = eq(found, Scalar(1));
  const Val first = is_zero & between_zeros;
  const Val sums = suffix_sums(where(before, conj(y) * g, zero), d);
  const Val quotient = sums / conj(where(before, x, one));
  const Val between = t.call1("cumprod", {where(before | first, one, x), d});
  const Val rest = suffix_sums(where(between_zeros, conj(between) * g, zero), d);
  const Val previous = concatenate({slice(one, d, 0, 1, 1), slice(y, d, 0, size - 1, 1)}, d);
  const Val at_first = conj(previous) * rest;
  return convert(where(before, quotient, where(first, at_first, zero)), grad.dtype());
}

}  // namespace primset::decomps
