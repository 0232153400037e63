// Distances between rows, as reductions of differences.
#include "decomps/primitives/distance.h"

#include "decomps/primitives/math.h"

namespace primset::decomps::prim {
namespace {

// [..., n, m, k] of x [..., n, k] and y [..., m, k].
Val differences(const Val& x, const Val& y) {
  return unsqueeze(opmath(x), x.rank() - 1) - unsqueeze(opmath(y), y.rank() - 2);
}

Val sum_over(const Val& x, int64_t dim) {
  return reduce(Prim::reduce_sum, x, {dim}, false);
}

// NaN has NaN's sign.
Val sign(const Val& x) {
  return where(math::is_unordered(x), x, unary(Prim::sign, x));
}

// Unequal numbers count; a difference of NaN gives NaN.
Val counted(const Val& size) {
  return where(gt(size, Scalar(0.0)), math::number(size, 1.0), size);
}

// The norm over the last dim of the absolute values.
Val norm(const Val& size, double p) {
  const int64_t last = size.rank() - 1;
  if (p == 0) return sum_over(counted(size), last);
  if (p == 1) return sum_over(size, last);
  if (p == 2) return math::sqrt(sum_over(size * size, last));
  if (p == math::kInfinity) {
    const Val greatest = reduce(Prim::reduce_max, size, {last}, false);
    return math::max(greatest, math::number(greatest, 0.0));  // of nothing it is 0
  }
  const Val sum = sum_over(math::pow(size, math::number(size, p)), last);
  return math::pow(sum, math::number(sum, 1 / p));
}

// The greatest difference alone counts; what has no distance to the greatest gives NaN, as in ATen.
Val slope_of_greatest(const Val& difference, const Val& d) {
  const Val behind = math::abs(difference) - d;
  const Val slope = where(eq(behind, Scalar(0.0)), sign(difference), math::number(difference, 0.0));
  return where(math::is_unordered(behind), behind, slope);
}

// The derivative of a distance by a difference; d and grad are broadcast along the last dim.
Val slope(const Val& difference, const Val& d, double p) {
  if (p == 1) return sign(difference);
  if (p == math::kInfinity) return slope_of_greatest(difference, d);
  const Val none = math::number(difference, 0.0), size = math::abs(difference);
  const Val apart = broadcast_to(ne(d, Scalar(0.0)), difference.shape());
  if (p == 2) return where(apart, difference / d, none);
  const Val ratio = math::pow(size / d, math::number(size, p - 1)) * sign(difference);
  const Val differs = p < 1 ? ne(size, Scalar(0.0)) & apart : apart;
  return where(differs, ratio, none);
}

}  // namespace

Val cdist::decompose(Tracer&, const Val& x, const Val& y, const ScalarArg& p) {
  return convert(norm(math::abs(differences(x, y)), p.known().to_double()), x.dtype());
}

Val cdist_backward::decompose(Tracer&, const Val& grad, const Val& x, const Val& y, const Val& d,
                              const ScalarArg& p) {
  const double power = p.known().to_double();
  if (power == 0) return full_like(x, 0.0);
  const int64_t last = x.rank();
  const Val apart = slope(differences(x, y), unsqueeze(opmath(d), last), power);
  return convert(sum_over(apart * unsqueeze(opmath(grad), last), last - 1), x.dtype());
}

}  // namespace primset::decomps::prim
