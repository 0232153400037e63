// Orthogonal polynomials by their recurrences, one loop an element; within (-1, 1) those of
// Chebyshev of a higher degree by their trigonometric form. Degrees are truncated to integers.
#include <array>

#include "decomps/special.h"
#include "decomps/special_math.h"

namespace primset::decomps {
namespace {

using math::number;

// p(k + 1) from k, x, p(k) and p(k - 1).
using Step = Val (*)(const Val& k, const Val& x, const Val& last, const Val& before);

Val of_chebyshev(const Val&, const Val& x, const Val& last, const Val& before) {
  return (x + x) * last - before;
}
Val of_hermite_h(const Val& k, const Val& x, const Val& last, const Val& before) {
  return (x + x) * last - (k + k) * before;
}
Val of_hermite_he(const Val& k, const Val& x, const Val& last, const Val& before) {
  return x * last - k * before;
}
Val of_laguerre(const Val& k, const Val& x, const Val& last, const Val& before) {
  return ((k + k + (Scalar(1.0) - x)) * last - k * before) / (k + Scalar(1.0));
}
Val of_legendre(const Val& k, const Val& x, const Val& last, const Val& before) {
  return ((k + k + Scalar(1.0)) * x * last - k * before) / (k + Scalar(1.0));
}

// Degree n from those of degree 0, which is 1, and 1. NaN ends it.
Val recurrence(const Val& x, const Val& first, const Val& n, Step step) {
  Tracer& t = x.tracer();
  const DType type = x.dtype();
  const std::vector<DType> types = {type, type, type, type, type};  // x, n, k, last, before
  const auto more = [](const std::vector<Val>& v) {
    return std::vector<Val>{lt(v[2], v[1]) & ~math::is_unordered(v[3])};
  };
  const auto next = [&](const std::vector<Val>& v) {
    return std::vector<Val>{v[0], v[1], v[2] + Scalar(1.0), step(v[2], v[0], v[3], v[4]), v[3]};
  };
  const auto body = [&](const std::vector<Val>& v) {
    const Val one = number(v[0], 1.0);
    const auto out = t.prim(Prim::while_loop, {v[0], v[1], one, v[2], one}, {},
                            {t.scalar_region(types, more), t.scalar_region(types, next)});
    return std::vector<Val>{out[3]};
  };
  const Val high =
      t.prim(Prim::map, {x, n, first}, {}, {t.scalar_region({type, type, type}, body)})[0];
  const Val one = number(x, 1.0), zero = number(x, 0.0);
  return where(lt(n, Scalar(0.0)), zero, where(lt(n, Scalar(1.0)), one, high));
}

struct Operands {
  Val x, n;  // in opmath; n a whole number
};
Operands operands(const Val& x, const Val& n) {
  return {opmath(x), unary(Prim::trunc, opmath(n))};
}

Val is_even(const Val& n) {
  const Val half = n * Scalar(0.5);
  return eq(half, math::floor(half));
}

enum class Kind : uint8_t { t, u, v, w };

// The values at 1 and, of an even degree, at -1; an odd one changes the latter's sign.
struct Ends {
  Val at_one, at_minus_one;
};
Ends ends_of(Kind kind, const Val& n) {
  const Val one = number(n, 1.0), next = n + Scalar(1.0), twice = n + n + Scalar(1.0);
  switch (kind) {
    case Kind::t:
      return {one, one};
    case Kind::u:
      return {next, next};
    case Kind::v:
      return {one, twice};
    case Kind::w:
      return {twice, one};
  }
  return {};
}

Val trigonometric(Kind kind, const Val& x, const Val& n) {
  const Val angle = unary(Prim::acos, x), half = angle * Scalar(0.5);
  switch (kind) {
    case Kind::t:
      return math::cos(n * angle);
    case Kind::u:
      return math::sin((n + Scalar(1.0)) * angle) / math::sin(angle);
    case Kind::v:
      return math::cos((n + Scalar(0.5)) * angle) / math::cos(half);
    case Kind::w:
      return math::sin((n + Scalar(0.5)) * angle) / math::sin(half);
  }
  return {};
}

Val chebyshev(Kind kind, const Val& x, const Val& n, double highest_by_recurrence) {
  const Val within = lt(math::abs(x), Scalar(1.0));
  const Val closed = within & gt(n, Scalar(highest_by_recurrence));
  const Val end = eq(math::abs(x), Scalar(1.0));
  const Val shift = number(x, kind == Kind::v ? -1.0 : kind == Kind::w ? 1.0 : 0.0);
  const Val first = kind == Kind::t ? x : x + x + shift;
  const Val degree = where(closed | end, number(n, 0.0), n);
  const Val low = recurrence(x, first, degree, of_chebyshev);
  const Ends ends = ends_of(kind, n);
  const Val below = where(is_even(n), ends.at_minus_one, -ends.at_minus_one);
  const Val at_end = where(gt(x, Scalar(0.0)), ends.at_one, below);
  const Val y = where(end, at_end, where(closed, trigonometric(kind, x, n), low));
  return where(lt(n, Scalar(0.0)), number(x, 0.0), y);
}

Val chebyshev_of(Kind kind, const Val& x, const Val& n, double highest_by_recurrence) {
  const Operands v = operands(x, n);
  return convert(chebyshev(kind, v.x, v.n, highest_by_recurrence), x.dtype());
}

// On [0, 1].
Val shifted_of(Kind kind, const Val& x, const Val& n, double highest_by_recurrence) {
  const Operands v = operands(x, n);
  const Val moved = v.x + v.x - Scalar(1.0);
  return convert(chebyshev(kind, moved, v.n, highest_by_recurrence), x.dtype());
}

// ATen has no values of degrees above these.
Val hermite_of(const Val& x, const Val& n, bool physicists) {
  const Operands v = operands(x, n);
  const Val above = gt(v.n, Scalar(v.x.dtype() == DType::f64 ? 512.0 : 128.0));
  const Val degree = where(above, number(v.n, 0.0), v.n);
  const Val y = physicists ? recurrence(v.x, v.x + v.x, degree, of_hermite_h)
                           : recurrence(v.x, v.x, degree, of_hermite_he);
  return convert(where(above, number(y, math::kNan), y), x.dtype());
}

}  // namespace

Val special_chebyshev_polynomial_t::decompose(Tracer&, const Val& x, const Val& n) {
  return chebyshev_of(Kind::t, x, n, 6);
}
Val special_chebyshev_polynomial_u::decompose(Tracer&, const Val& x, const Val& n) {
  return chebyshev_of(Kind::u, x, n, 8);
}
Val special_chebyshev_polynomial_v::decompose(Tracer&, const Val& x, const Val& n) {
  return chebyshev_of(Kind::v, x, n, 8);
}
Val special_chebyshev_polynomial_w::decompose(Tracer&, const Val& x, const Val& n) {
  return chebyshev_of(Kind::w, x, n, 8);
}
Val special_shifted_chebyshev_polynomial_t::decompose(Tracer&, const Val& x, const Val& n) {
  return shifted_of(Kind::t, x, n, 6);
}
Val special_shifted_chebyshev_polynomial_u::decompose(Tracer&, const Val& x, const Val& n) {
  return shifted_of(Kind::u, x, n, 6);
}
Val special_shifted_chebyshev_polynomial_v::decompose(Tracer&, const Val& x, const Val& n) {
  return shifted_of(Kind::v, x, n, 6);
}
Val special_shifted_chebyshev_polynomial_w::decompose(Tracer&, const Val& x, const Val& n) {
  return shifted_of(Kind::w, x, n, 4);
}

Val special_hermite_polynomial_h::decompose(Tracer&, const Val& x, const Val& n) {
  return hermite_of(x, n, true);
}
Val special_hermite_polynomial_he::decompose(Tracer&, const Val& x, const Val& n) {
  return hermite_of(x, n, false);
}

Val special_laguerre_polynomial_l::decompose(Tracer&, const Val& x, const Val& n) {
  const Operands v = operands(x, n);
  const Val degree = where(eq(v.x, Scalar(0.0)), math::min(v.n, number(v.n, 0.0)), v.n);
  return convert(recurrence(v.x, Scalar(1.0) - v.x, degree, of_laguerre), x.dtype());
}

Val special_legendre_polynomial_p::decompose(Tracer&, const Val& x, const Val& n) {
  const Operands v = operands(x, n);
  const Val end = eq(math::abs(v.x), Scalar(1.0)), one = number(v.x, 1.0);
  const Val at_end = where(gt(v.x, Scalar(0.0)) | is_even(v.n), one, -one);
  const Val degree = where(end, math::min(v.n, number(v.n, 0.0)), v.n);
  const Val y = recurrence(v.x, v.x, degree, of_legendre);
  const Val usual = where(end & ge(v.n, Scalar(0.0)), at_end, y);
  return convert(usual, x.dtype());
}

}  // namespace primset::decomps
