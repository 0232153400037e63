#include "decomps/primitives/reduction.h"

#include <cmath>

#include "decomps/primitives/math.h"

namespace primset::decomps::prim {
namespace {

using Ints = std::vector<int64_t>;

Val reduced(Prim kind, const Val& x, const Ints& dims) {
  return reduce(kind, x, dims, false);
}
Val kept(Prim kind, const Val& x, const Ints& dims) {
  return reduce(kind, x, dims, true);
}

}  // namespace

Val mean::decompose(Tracer&, const Val& x, const std::vector<int64_t>& dims) {
  const Val sum = reduced(Prim::reduce_sum, opmath(x), dims);
  return convert(sum / full_like(sum, count_along(x, dims)), x.dtype());
}

namespace {

// Chan, Golub and LeVeque (Updating formulae and a pairwise algorithm for computing sample
// variances, 1979): mean, sum of squares about it and count of two samples joined. An empty one
// leaves the other as it is, infinities included.
std::vector<Val> joined_samples(const std::vector<Val>& v) {
  const Val &mean_a = v[0], &squares_a = v[1], &count_a = v[2];
  const Val &mean_b = v[3], &squares_b = v[4], &count_b = v[5];
  const Val empty_a = eq(count_a, Scalar(0.0)), empty_b = eq(count_b, Scalar(0.0));
  const Val count = count_a + count_b;
  const Val share = count_b / where(empty_a & empty_b, math::number(count, 1.0), count);
  const Val apart = mean_b - mean_a;
  const Val mean = mean_a + apart * share;
  const Val squares = squares_a + squares_b + apart * (count_a * share) * apart;
  const auto joined = [&](const Val& a, const Val& b, const Val& both) {
    return where(empty_a, b, where(empty_b, a, both));
  };
  return {joined(mean_a, mean_b, mean), joined(squares_a, squares_b, squares), count};
}

// The first element over dims where that is a finite number, else 0; dims are kept.
Val origin_of(const Val& x, const Ints& dims) {
  Val first = x;
  for (int64_t d : dims) first = slice(first, d, 0, 1, 1);
  return where(math::is_finite(first), first, math::number(first, 0.0));
}

}  // namespace

// Of numbers that lie close together far from 0, the distances from one of them are exact, and
// joining samples of those keeps the digits that a mean of the numbers themselves would lose. An
// infinity has no variance.
std::tuple<Val, Val> var_mean::decompose(Tracer& t, const Val& x, const std::vector<int64_t>& dims,
                                         const ScalarArg& correction) {
  const Val wide = opmath(x);
  const DType type = wide.dtype();
  const Val none = t.constant(Scalar(0.0), type);
  const SymInt n = count_along(x, dims);
  const bool empty = n == SymInt(0);
  const Val origin = empty ? none : origin_of(wide, dims);
  const Val distance = wide - broadcast_to(origin, wide.shape());
  const Val own_square =
      where(math::is_finite(wide), math::number(wide, 0.0), math::number(wide, math::kNan));
  auto sample = t.prim(
      Prim::reduce, {distance, own_square, full_like(wide, Scalar(1.0)), none, none, none},
      {{"dims", dims}}, {t.scalar_region({type, type, type, type, type, type}, joined_samples)});
  if (!empty) sample[0] = sample[0] + reshape(origin, sample[0].shape());
  const Val count = t.constant(n, type);
  const Val divisor = math::max(count - t.scalar(correction, type), none);
  return {convert(sample[1] / divisor, x.dtype()), convert(sample[0], x.dtype())};
}

namespace {

// (sum |x / s|^p)^(1/p) s, scaled by the greatest magnitude, or of a negative p the least.
Val scaled_norm(const Val& a, double p, const Ints& dims) {
  const Val extreme = kept(p > 0 ? Prim::reduce_max : Prim::reduce_min, a, dims);
  const Val usable = lt(math::number(extreme, 0.0), extreme) & math::is_finite(extreme);
  const Val scale = where(usable, extreme, math::number(extreme, 1.0));
  const Val ratio = a / scale;
  const Val powers = p == 2 ? ratio * ratio : math::pow(ratio, math::number(ratio, p));
  const Val sum = reduced(Prim::reduce_sum, powers, dims);
  const Val root = p == 2 ? math::sqrt(sum) : math::pow(sum, math::number(sum, 1 / p));
  return root * reshape(scale, sum.shape());
}

Val norm(const Val& x, double p, const Ints& dims) {
  const Val a = math::abs(x);
  if (p == 0) return reduced(Prim::reduce_sum, convert(ne(x, Scalar(0.0)), x.dtype()), dims);
  if (p == 1) return reduced(Prim::reduce_sum, a, dims);
  if (std::isinf(p)) {
    // Of nothing the greatest magnitude is 0.
    return p > 0 ? math::max(reduced(Prim::reduce_max, a, dims),
                             math::number(reduced(Prim::reduce_max, a, dims), 0.0))
                 : reduced(Prim::reduce_min, a, dims);
  }
  return scaled_norm(a, p, dims);
}

}  // namespace

// p says what is computed, so it is part of the plan.
Val vector_norm::decompose(Tracer&, const Val& x, const ScalarArg& p,
                           const std::vector<int64_t>& dims) {
  return convert(norm(opmath(x), p.known().to_double(), dims), x.dtype());
}

// An infinite maximum is the result.
Val log_sum_exp::decompose(Tracer&, const Val& x, const std::vector<int64_t>& dims) {
  const Val wide = opmath(x);
  const Val greatest = kept(Prim::reduce_max, wide, dims);
  const Val shift = where(math::is_infinite(greatest), math::number(greatest, 0.0), greatest);
  const Val sum = reduced(Prim::reduce_sum, math::exp(wide - shift), dims);
  const Val usual = math::log(sum) + reshape(shift, sum.shape());
  const Val limit = reshape(greatest, sum.shape());
  return convert(where(math::is_infinite(limit), limit, usual), x.dtype());
}

}  // namespace primset::decomps::prim
