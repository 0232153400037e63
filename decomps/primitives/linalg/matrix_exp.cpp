// The exponential by scaling and squaring of a Taylor polynomial (Al-Mohy and Higham, "A new
// scaling and squaring algorithm for the matrix exponential", 2009), evaluated with few products by
// the scheme of Paterson and Stockmeyer. A matrix is halved until its norm is below the number up
// to which the polynomial's backward error is below half a unit in the last place.
#include "decomps/primitives/linalg.h"
#include "decomps/primitives/linalg/matrices.h"
#include "decomps/primitives/math.h"

namespace primset::decomps::prim {
namespace {

// A polynomial of degree width * groups; its largest norm was computed with mpmath from the series
// of log(e^-x T(x)).
struct Polynomial {
  int width, groups;
  double largest_norm;
};

Polynomial polynomial_for(DType real) {
  return {5, 4, real == DType::f64 ? 1.43825 : 3.55093};
}

// The sum of a^k / k! as polynomials of degree `width` in a, by Horner's rule in a^width.
Val evaluated(Tracer& t, const Val& a, const Polynomial& p) {
  std::vector<Val> powers = {mat::identity(t, a.size(0), a.size(1), a.dtype()), a};
  while (static_cast<int>(powers.size()) <= p.width)
    powers.push_back(mat::product(powers.back(), a));
  std::vector<double> coefficients = {1};
  for (int k = 1; k <= p.width * p.groups; ++k) coefficients.push_back(coefficients.back() / k);
  const auto group = [&](int g) {
    const auto at = [&](int k) {
      return Scalar(coefficients[static_cast<size_t>(g * p.width + k)]);
    };
    Val sum = powers[0] * at(0);
    for (int k = 1; k < p.width; ++k) sum = sum + powers[static_cast<size_t>(k)] * at(k);
    return sum;
  };
  const Val& top = powers.back();
  Val sum = group(p.groups - 1) + top * Scalar(coefficients.back());
  for (int g = p.groups - 2; g >= 0; --g) sum = group(g) + mat::product(top, sum);
  return sum;
}

// How often each matrix is halved, [count, 1, 1] in the real dtype: none where its norm is none.
Val halvings(const Val& a, const Polynomial& p) {
  const Val size = is_complex(a.dtype()) ? unary(Prim::abs, a) : math::abs(a);
  const Val columns = reduce(Prim::reduce_sum, size, {1}, false);
  const Val norm = restore_dims(reduce(Prim::reduce_max, columns, {1}, false), a.shape(), {1, 2});
  const Val count = unary(Prim::ceil, unary(Prim::log2, norm / Scalar(p.largest_norm)));
  const Val large = gt(norm, Scalar(p.largest_norm)) & math::is_finite(norm);
  return where(large, count, math::number(norm, 0.0));
}

// x squared as often as each matrix was halved.
Val squared(Tracer& t, const Val& x, const Val& halved) {
  const Val most = reduce(Prim::reduce_max, halved, {0, 1, 2}, false);
  const std::vector<Val> start = {x, math::number(most, 0.0)};
  std::vector<prims::ValueType> params;
  for (const Val& v : start) params.push_back({v.dtype(), v.shape()});
  const auto more = t.region(
      params, [&](const std::vector<Val>& v) -> std::vector<Val> { return {lt(v[1], most)}; });
  const auto step = t.region(params, [&](const std::vector<Val>& v) -> std::vector<Val> {
    return {where(lt(v[1], halved), mat::product(v[0], v[0]), v[0]), v[1] + Scalar(1.0)};
  });
  return t.prim(Prim::while_loop, start, {}, {more, step})[0];
}

}  // namespace

Val matrix_exp::decompose(Tracer& t, const Val& a) {
  const SymInts shape = a.shape();
  if (a.is_empty()) return a;
  const Polynomial p = polynomial_for(real_type(a.dtype()));
  const Val flat = mat::as_matrices(a), halved = halvings(flat, p);
  const Val scale = unary(Prim::exp2, -halved);
  const Val small =
      is_complex(a.dtype()) ? complex(real(flat) * scale, imag(flat) * scale) : flat * scale;
  return reshape(squared(t, evaluated(t, small, p), halved), shape);
}

}  // namespace primset::decomps::prim
