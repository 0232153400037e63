// Orthogonal polynomials, each a row of the table at the end: by their recurrences, one loop an
// element, and some elements by values that are known otherwise. Degrees are truncated to integers;
// those below 0, and NaN, give 0. A recurrence of f32 is one of f64 where that is fast: each step
// would add to the last one's rounding error. What stands around it takes as few f64 operations as
// it can, of which a GPU has half as many a second or fewer: degrees stay what they are.
#include "decomps/primitives/special.h"
#include "decomps/primitives/special/approximation.h"

namespace primset::decomps::prim {
namespace {

using math::number;

// The elements that are left out of the recurrence, and what is there.
struct Known {
  Val at, values;
};

// x is in wide_opmath, the degree n, a whole number, in opmath; `result` is what the value is
// rounded to.
struct Polynomial {
  Val (*first)(const Val& x);  // of degree 1; that of degree 0 is 1
  // p(k + 1), or (k + 1) times that, from k, x, p(k) and p(k - 1).
  Val (*next)(const Val& k, const Val& x, const Val& last, const Val& before);
  bool next_is_multiplied;
  Known (*known)(const Val& x, const Val& n, DType result);
  Val (*argument)(const Val& x);  // what stands for x in all of these
};

// --- the polynomials of degree 1 -----------------------------------------------------------------

Val itself(const Val& x) {
  return x;
}
Val twice(const Val& x) {
  return x + x;
}
template <int offset>
Val twice_and(const Val& x) {
  return x + x + Scalar(double{offset});
}
Val one_minus(const Val& x) {
  return Scalar(1.0) - x;
}

// --- the recurrences -----------------------------------------------------------------------------

Val chebyshev(const Val&, const Val& x, const Val& last, const Val& before) {
  return (x + x) * last - before;
}
// Both products may overflow where their difference does not, or only it.
constexpr double kRoom = 0x1p-12;
Val hermite_he_next(const Val& k, const Val& x, const Val& last, const Val& before) {
  return (x * (last * Scalar(kRoom)) - k * (before * Scalar(kRoom))) * Scalar(1 / kRoom);
}
Val hermite_h_next(const Val& k, const Val& x, const Val& last, const Val& before) {
  return hermite_he_next(k + k, x + x, last, before);
}
Val laguerre(const Val& k, const Val& x, const Val& last, const Val& before) {
  return (k + k + (Scalar(1.0) - x)) * last - k * before;
}
Val legendre(const Val& k, const Val& x, const Val& last, const Val& before) {
  return (k + k + Scalar(1.0)) * x * last - k * before;
}

// --- values known otherwise ----------------------------------------------------------------------

// Below 0 a polynomial of an odd degree changes its sign.
Val with_parity(const Val& x, const Val& n, const Val& of_even) {
  const Val half = n * Scalar(0.5);
  const Val odd = ne(half, math::floor(half));
  return where(odd & lt(x, Scalar(0.0)), -of_even, of_even);
}

// The values at 1 and, of an even degree, at -1.
Val at_ends(const Val& x, const Val& n, const Val& at_one, const Val& at_minus_one) {
  return with_parity(x, n, where(gt(x, Scalar(0.0)), at_one, at_minus_one));
}

Val one(const Val& like) {
  return number(like, 1.0);
}
Val n_plus_one(const Val& n) {
  return n + Scalar(1.0);
}
Val two_n_plus_one(const Val& n) {
  return n + n + Scalar(1.0);
}

// The four kinds of Chebyshev. At the cosine of an angle up to a quarter turn the value is
//   wave((n + shift) * angle) / divisor,
// where the divisor is the wave of shift * angle, by the root that it is of x. Near -1 the angle
// has lost the bits that both are made of, so that an x below 0 takes the angle of -x: there the
// value is (-1)^n times that of `mirrored` (DLMF 18.6.1, 18.7.5), over a divisor that is the same
// root of x again.
struct Waves {
  Val (*wave)(const Val& angle);
  Val (*mirrored)(const Val& angle);
  double shift;
  Val (*divisor)(const Val& x);
  Val (*at_one)(const Val& n);
  Val (*at_minus_one)(const Val& n);
};

Val half_angle_cosine(const Val& x) {
  return math::sqrt((Scalar(1.0) + x) * Scalar(0.5));
}
Val half_angle_sine(const Val& x) {
  return math::sqrt((Scalar(1.0) - x) * Scalar(0.5));
}
Val angle_sine(const Val& x) {
  return math::sqrt((Scalar(1.0) - x) * (Scalar(1.0) + x));
}

constexpr Waves kT = {math::cos, math::cos, 0.0, one, one, one};
constexpr Waves kU = {math::sin, math::sin, 1.0, angle_sine, n_plus_one, n_plus_one};
constexpr Waves kV = {math::cos, math::sin, 0.5, half_angle_cosine, one, two_n_plus_one};
constexpr Waves kW = {math::sin, math::cos, 0.5, half_angle_sine, two_n_plus_one, one};

Val by_waves(const Waves& kind, const Val& x, const Val& n) {
  const Val phase = (n + Scalar(kind.shift)) * unary(Prim::acos, math::abs(x));
  const Val above = kind.wave(phase);
  const Val wave =
      kind.mirrored == kind.wave ? above : where(lt(x, Scalar(0.0)), kind.mirrored(phase), above);
  return with_parity(x, n, wave / kind.divisor(x));
}

// A recurrence in f64 has digits to spare for an f32.
constexpr double kHighestInF64 = 64;

// Within (-1, 1) the degrees above `highest`, ATen's, and all of them at both ends.
template <const Waves& kind, int highest>
Known waves(const Val& x, const Val& n, DType result) {
  const double above = x.dtype() == result ? highest : kHighestInF64;
  const Val end = eq(math::abs(x), Scalar(1.0));
  const Val within = lt(math::abs(x), Scalar(1.0)) & gt(n, Scalar(above));
  const Val values = at_ends(x, n, kind.at_one(n), kind.at_minus_one(n));
  const auto wave = [](const Val& v, const math::Numbers& degree) {
    return by_waves(kind, v, degree[0]);
  };
  const Val waved = math::seldom(within, x, {convert(n, x.dtype())}, wave);
  return {within | end, where(end, convert(values, x.dtype()), waved)};
}

Known ones_at_ends(const Val& x, const Val& n, DType) {
  return {eq(math::abs(x), Scalar(1.0)), at_ends(x, n, one(n), one(n))};
}
Known one_at_zero(const Val& x, const Val& n, DType) {
  return {eq(x, Scalar(0.0)), one(n)};
}
// ATen has no values of degrees above these.
Known nan_when_high(const Val&, const Val& n, DType result) {
  return {gt(n, Scalar(result == DType::f64 ? 512.0 : 128.0)), number(n, math::kNan)};
}

// --- a polynomial --------------------------------------------------------------------------------

// From [0, 1] to [-1, 1].
Val shifted(const Val& x) {
  return x + x - Scalar(1.0);
}

// y / k. A quotient of f64 takes a GPU as long as all the rest of a step; where the result is an
// f32, the f32 reciprocal after one step of Newton's has digits enough.
Val divided(const Val& y, const Val& k, DType result) {
  if (y.dtype() != DType::f64 || result == DType::f64) return y / k;
  const Val rough =
      convert(number(convert(k, DType::f32), 1.0) / convert(k, DType::f32), y.dtype());
  return y * (rough * (Scalar(2.0) - rough * k));
}

// p(k + 1) from k, x, p(k) and p(k - 1).
Val step(const Polynomial& p, DType result, const Val& k, const Val& x, const Val& last,
         const Val& before) {
  const Val y = p.next(k, x, last, before);
  return p.next_is_multiplied ? divided(y, k + Scalar(1.0), result) : y;
}

// From degree k on, whose value is `last`. NaN ends the loop.
Val recurrence(const Polynomial& p, DType result, double from, const Val& x, const Val& n,
               const Val& last, const Val& before) {
  Tracer& t = x.tracer();
  const DType type = x.dtype();
  const std::vector<DType> types = {type, type, type, type, type};  // x, n, k, last, before
  const auto more = [](const std::vector<Val>& v) {
    return std::vector<Val>{lt(v[2], v[1]) & ~math::is_unordered(v[3])};
  };
  const auto next = [&](const std::vector<Val>& v) {
    return std::vector<Val>{v[0], v[1], v[2] + Scalar(1.0), step(p, result, v[2], v[0], v[3], v[4]),
                            v[3]};
  };
  const auto body = [&](const std::vector<Val>& v) {
    const auto out = t.prim(Prim::while_loop, {v[0], v[1], number(v[0], from), v[2], v[3]}, {},
                            {t.scalar_region(types, more), t.scalar_region(types, next)});
    return std::vector<Val>{out[3]};
  };
  return t.prim(Prim::map, {x, convert(n, type), last, before}, {},
                {t.scalar_region({type, type, type, type}, body)})[0];
}

// The degrees up to here come one after another: all that depends on k alone is a constant there,
// and elements of several degrees do not wait for one another.
constexpr int kStepsInARow = 4;

Val of_degree(const Polynomial& p, const Val& x, const Val& n, DType result) {
  std::vector<Val> low = {one(x), p.first(x)};
  for (int k = 1; k < kStepsInARow; ++k)
    low.push_back(step(p, result, number(x, k), x, low[k], low[k - 1]));
  Val y = recurrence(p, result, kStepsInARow, x, n, low[kStepsInARow], low[kStepsInARow - 1]);
  for (int k = kStepsInARow - 1; k > 0; --k) y = where(gt(n, Scalar(k + 0.5)), y, low[k]);
  return y;
}

Val value(const Polynomial& p, const Val& x, const Val& n) {
  const DType result = x.dtype();
  const Val at = p.argument(wide_opmath(x)), degree = unary(Prim::trunc, opmath(n));
  const Val zero = number(x, 0.0);
  const Known known = p.known(at, degree, result);
  const Val high = of_degree(p, at, where(known.at, number(degree, 0.0), degree), result);
  const Val low = where(lt(degree, Scalar(1.0)), number(x, 1.0), convert(high, result));
  const Val y = where(known.at, convert(known.values, result), low);
  return where(ge(degree, Scalar(0.0)), y, zero);
}

}  // namespace

// A primitive and its Polynomial: first, next, whether multiplied, known; of the Chebyshev ones the
// same where they are shifted, which ATen computes by waves from other degrees on.
#define PRIMSET_SHIFTED_ROW(prim, first, next, known, shifted_known)                  \
  Val prim::decompose(Tracer&, const Val& x, const Val& n, bool shift) {              \
    static constexpr Polynomial kPlain{first, next, false, known, itself};            \
    static constexpr Polynomial kShifted{first, next, false, shifted_known, shifted}; \
    return value(shift ? kShifted : kPlain, x, n);                                    \
  }
PRIMSET_SHIFTED_ROW(chebyshev_t, itself, chebyshev, (waves<kT, 6>), (waves<kT, 6>))
PRIMSET_SHIFTED_ROW(chebyshev_u, twice, chebyshev, (waves<kU, 8>), (waves<kU, 6>))
PRIMSET_SHIFTED_ROW(chebyshev_v, twice_and<-1>, chebyshev, (waves<kV, 8>), (waves<kV, 6>))
PRIMSET_SHIFTED_ROW(chebyshev_w, twice_and<1>, chebyshev, (waves<kW, 8>), (waves<kW, 4>))
#undef PRIMSET_SHIFTED_ROW
#define PRIMSET_ROW(prim, ...)                                    \
  Val prim::decompose(Tracer&, const Val& x, const Val& n) {      \
    static constexpr Polynomial kPolynomial{__VA_ARGS__, itself}; \
    return value(kPolynomial, x, n);                              \
  }
PRIMSET_ROW(hermite_h, twice, hermite_h_next, false, nan_when_high)
PRIMSET_ROW(hermite_he, itself, hermite_he_next, false, nan_when_high)
PRIMSET_ROW(laguerre_l, one_minus, laguerre, true, one_at_zero)
PRIMSET_ROW(legendre_p, itself, legendre, true, ones_at_ends)
#undef PRIMSET_ROW

}  // namespace primset::decomps::prim
