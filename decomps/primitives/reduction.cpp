#include "decomps/primitives/reduction.h"

#include <algorithm>
#include <cmath>

#include "decomps/primitives/math.h"
#include "decomps/primitives/wide_sums.h"

namespace primset::decomps::prim {
namespace {

using Ints = std::vector<int64_t>;

Val reduced(Prim kind, const Val& x, const Ints& dims) {
  return reduce(kind, x, dims, false);
}
Val kept(Prim kind, const Val& x, const Ints& dims) {
  return reduce(kind, x, dims, true);
}

// The dims at the end of x that are among dims.
Ints last_of(const Ints& dims, int64_t rank) {
  Ints last;
  for (int64_t d = rank - 1; std::find(dims.begin(), dims.end(), d) != dims.end(); --d)
    last.insert(last.begin(), d);
  return last;
}

// Elements that a row in registers has at most.
constexpr int64_t kHeldRow = 16384;

}  // namespace

bool sums_in_f64(const Val& x, const Ints& dims) {
  const bool narrow = is_floating(x.dtype()) && x.dtype() != DType::f64;
  if (!narrow || !x.tracer().device().f64) return false;
  const SymInt n = count_along(x, dims);
  if (n == SymInt(0)) return false;
  return last_of(dims, x.rank()).size() < dims.size() || n > SymInt(kHeldRow);
}

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

struct Moments {
  Val squares, mean;  // the sum of squares about the mean
};

// Over dims, of which those at the end are one part and others stand before them: a mean of means
// of equal samples, and their squares about it.
Moments moments_in_parts(Tracer& t, const Val& x, const Ints& dims, const Ints& last) {
  const auto part = t.prim(Prim::var_mean, {x}, {{"dims", last}, {"correction", Scalar(0)}});
  Ints first;
  for (int64_t d : dims) {
    if (std::find(last.begin(), last.end(), d) == last.end()) first.push_back(d);
  }
  const Val sum = kept(Prim::reduce_sum, part[1], first);
  const Val mean = sum / full_like(sum, count_along(part[1], first));
  const Val apart = part[1] - mean;
  const Val squares = reduced(Prim::reduce_sum, part[0] + apart * apart, first);
  return {squares * full_like(squares, count_along(x, last)), reshape(mean, squares.shape())};
}

Moments moments_in_one_pass(Tracer& t, const Val& x, const Ints& dims) {
  const DType type = x.dtype();
  const Val none = t.constant(Scalar(0.0), type);
  const Val own_square =
      where(math::is_finite(x), math::number(x, 0.0), math::number(x, math::kNan));
  const auto sample = t.prim(
      Prim::reduce, {x, own_square, full_like(x, Scalar(1.0)), none, none, none}, {{"dims", dims}},
      {t.scalar_region({type, type, type, type, type, type}, joined_samples)});
  return {sample[1], sample[0]};
}

}  // namespace

// Of numbers that lie close together far from 0, the distances from one of them are exact, and
// joining samples of those keeps the digits that a mean of the numbers themselves would lose; f64
// has digits enough. An infinity has no variance.
std::tuple<Val, Val> var_mean::decompose(Tracer& t, const Val& x, const std::vector<int64_t>& dims,
                                         const ScalarArg& correction) {
  const Val wide = opmath(x);
  const DType type = wide.dtype();
  const SymInt n = count_along(x, dims);
  const Val none = t.constant(Scalar(0.0), type);
  const bool empty = n == SymInt(0), from_origin = !empty && type == DType::f32;
  const Val origin = from_origin ? origin_of(wide, dims) : none;
  const Val distance = from_origin ? wide - origin : wide;
  const Ints last = last_of(dims, x.rank());
  const bool in_parts = !empty && !last.empty() && last.size() < dims.size();
  Moments m =
      in_parts ? moments_in_parts(t, distance, dims, last) : moments_in_one_pass(t, distance, dims);
  if (from_origin) m.mean = m.mean + reshape(origin, m.mean.shape());
  const Val divisor = math::max(t.constant(n, type) - t.scalar(correction, type), none);
  return {convert(m.squares / divisor, x.dtype()), convert(m.mean, x.dtype())};
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

Val norm_in_f64(const Val& x, const Ints& dims) {
  const Val wide = convert(x, DType::f64);
  return math::sqrt(reduced(Prim::reduce_sum, wide * wide, dims));
}

std::vector<Val> joined_sums(const std::vector<Val>& v) {
  return {v[0] + v[3], v[1] + v[4], v[2] + v[5]};
}

// In one pass over f64: the squares of the numbers as they are, and scaled up and down by a power
// of two, of which only the sum counts that neither overflows nor loses digits to denormals.
Val norm_of_f64(Tracer& t, const Val& x, const Ints& dims) {
  const double far = std::ldexp(1.0, 600), least = std::ldexp(1.0, -900);
  const auto square_of = [&](double scale) {
    const Val scaled = x * full_like(x, scale);
    return scaled * scaled;
  };
  const DType type = x.dtype();
  const Val none = t.constant(Scalar(0.0), type);
  const auto sums = t.prim(
      Prim::reduce, {x * x, square_of(far), square_of(1 / far), none, none, none}, {{"dims", dims}},
      {t.scalar_region({type, type, type, type, type, type}, joined_sums)});
  const Val &sum = sums[0], from_small = math::sqrt(sums[1]) * math::number(sum, 1 / far),
            from_large = math::sqrt(sums[2]) * math::number(sum, far);
  const Val usual = where(math::is_infinite(sum), from_large, math::sqrt(sum));
  return where(lt(sum, full_like(sum, least)), from_small, usual);
}

}  // namespace

// p says what is computed, so it is part of the plan. What a row of registers or a cache holds is
// scaled at little cost where f64 takes long.
Val vector_norm::decompose(Tracer& t, const Val& x, const ScalarArg& p,
                           const std::vector<int64_t>& dims) {
  const double order = p.known().to_double();
  const bool fast_f64 = t.device().fast_f64;
  if (order == 2 && fast_f64 && x.dtype() == DType::f64) return norm_of_f64(t, x, dims);
  const bool wide = order == 2 && (sums_in_f64(x, dims) || (fast_f64 && is_floating(x.dtype())));
  return convert(wide ? norm_in_f64(x, dims) : norm(opmath(x), order, dims), x.dtype());
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
