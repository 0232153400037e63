// Special values are those of C99, annex G.
#include "decomps/primitives/elementwise/complex_parts.h"

#include "decomps/primitives/math.h"

namespace primset::decomps::math {
namespace {

// Powers of two of a dtype, against overflow and underflow in between.
struct Range {
  double huge;       // half of the greatest number's power of two
  double tiny;       // below this a square or quotient may lose bits
  double lift;       // what tiny numbers are multiplied by, a power of four
  double root_lift;  // its square root
};
Range range_of(DType t) {
  if (t == DType::f64) return {0x1p1022, 0x1p-916, 0x1p106, 0x1p53};
  return {0x1p126, 0x1p-78, 0x1p48, 0x1p24};
}

Val zero_like(const Val& x) {
  return number(x, 0.0);
}
Val one_like(const Val& x) {
  return number(x, 1.0);
}
Val either_infinite(const Parts& z) {
  return is_infinite(z.re) | is_infinite(z.im);
}
Val both_finite(const Parts& z) {
  return is_finite(z.re) & is_finite(z.im);
}
Parts choose(const Val& p, const Parts& a, const Parts& b) {
  return {where(p, a.re, b.re), where(p, a.im, b.im)};
}
Parts scaled(const Parts& z, const Val& s) {
  return {z.re * s, z.im * s};
}

// An infinite number as a point of the unit square's border, signs kept.
Parts boxed(const Parts& z) {
  const auto side = [](const Val& x) {
    return copysign(where(is_infinite(x), one_like(x), zero_like(x)), x);
  };
  return {side(z.re), side(z.im)};
}

Val without_nan(const Val& x) {
  return where(is_unordered(x), copysign(zero_like(x), x), x);
}

Parts plain_mul(const Parts& a, const Parts& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

Val greater_magnitude(const Parts& z) {
  return max(abs(z.re), abs(z.im));
}

}  // namespace

// C99's example in annex G: where both parts came out NaN but a factor was infinite, or a product
// of parts was, the factors are boxed and multiplied again. That both are NaN is asked first, and
// alone: where a CPU's vector has no such lane, it skips the rest.
Parts complex_mul(const Parts& a, const Parts& b) {
  const Parts plain = plain_mul(a, b);
  const Val a_infinite = either_infinite(a), b_infinite = either_infinite(b);
  const Val overflows = is_infinite(a.re * b.re) | is_infinite(a.im * b.im) |
                        is_infinite(a.re * b.im) | is_infinite(a.im * b.re);
  const Val lost = is_unordered(plain.re) & is_unordered(plain.im);
  const auto prepared = [](const Val& infinite, const Parts& z) {
    return choose(infinite, boxed(z), {without_nan(z.re), without_nan(z.im)});
  };
  const Parts again = plain_mul(prepared(a_infinite, a), prepared(b_infinite, b));
  const Parts found =
      choose(a_infinite | b_infinite | overflows, scaled(again, number(a.re, kInfinity)), plain);
  return choose(lost, found, plain);
}

namespace {

// Smith's quotient, in the form of Baudin and Smith (A robust complex division in Scilab, 2012):
// the ratio may underflow, when the product is taken in another order.
Val smith_part(const Val& a, const Val& b, const Val& c, const Val& d, const Val& ratio,
               const Val& t) {
  const Val with_ratio = (a + b * ratio) * t;
  const Val b_first = (a + d * (b / c)) * t;
  return where(eq(ratio, Scalar(0.0)), b_first, with_ratio);
}

// Where |c| < |d| the parts trade places, which turns the sign of the imaginary part.
Parts smith(const Parts& x, const Parts& y) {
  const Val swap = lt(abs(y.re), abs(y.im));
  const Val a = where(swap, x.im, x.re), b = where(swap, x.re, x.im);
  const Val c = where(swap, y.im, y.re), d = where(swap, y.re, y.im);
  const Val ratio = d / c, t = Scalar(1.0) / (c + d * ratio);
  const Val re = smith_part(a, b, c, d, ratio, t), im = smith_part(b, -a, c, d, ratio, t);
  return {re, where(swap, -im, im)};
}

// What numbers of this magnitude are multiplied by before they are divided.
Val division_scale(const Val& magnitude) {
  const Range r = range_of(magnitude.dtype());
  const Val tiny = lt(magnitude, Scalar(r.tiny)), huge = ge(magnitude, Scalar(r.huge));
  const Val up = where(tiny, number(magnitude, r.lift), one_like(magnitude));
  return where(huge, number(magnitude, 0.25), up);
}

}  // namespace

Parts complex_div(const Parts& a, const Parts& b) {
  const Val top = division_scale(greater_magnitude(a));
  const Val bottom = division_scale(greater_magnitude(b));
  const Parts usual = scaled(smith(scaled(a, top), scaled(b, bottom)), bottom / top);
  const Val zero = eq(b.re, Scalar(0.0)) & eq(b.im, Scalar(0.0));
  const Val special = zero | either_infinite(a) | either_infinite(b);
  const Val a_infinite = either_infinite(a) & both_finite(b);
  const Val b_infinite = either_infinite(b) & both_finite(a);
  const auto times_conjugate = [](const Parts& x, const Parts& y, const Val& s) {
    return Parts{s * (x.re * y.re + x.im * y.im), s * (x.im * y.re - x.re * y.im)};
  };
  const Val infinity = number(a.re, kInfinity);
  Parts q = choose(b_infinite, times_conjugate(a, boxed(b), zero_like(a.re)), usual);
  q = choose(a_infinite, times_conjugate(boxed(a), b, infinity), q);
  // ATen divides the parts by the magnitude of the zero (c10/util/complex.h), C99 by its real part.
  return choose(special, choose(zero, scaled(a, infinity), q), usual);
}

// Kahan (Branch cuts for complex elementary functions, 1987): the root of the part without
// cancellation first, the other from it.
Parts complex_sqrt(const Parts& z) {
  const Val m = greater_magnitude(z), one = one_like(m);
  const Range r = range_of(m.dtype());
  const Val huge = ge(m, Scalar(r.huge)), tiny = lt(m, Scalar(r.tiny));
  const Val s = where(huge, number(m, 0x1p-4), where(tiny, number(m, r.lift), one));
  const Val back = where(huge, number(m, 4.0), where(tiny, number(m, 1 / r.root_lift), one));
  const Val x = z.re * s, y = z.im * s;
  const Val root = sqrt((abs(x) + hypot(x, y)) * Scalar(0.5));
  const Val other = abs(y) / (where(eq(m, Scalar(0.0)), one, root) * Scalar(2.0));
  const Val left = lt(z.re, Scalar(0.0));
  const Parts usual{where(left, other, root) * back,
                    copysign(where(left, root, other) * back, z.im)};

  const Val infinity = number(m, kInfinity);
  const Val hidden = where(is_unordered(z.im), z.im, zero_like(m));
  const Parts negative{abs(hidden), copysign(infinity, z.im)};
  const Parts positive{infinity, copysign(hidden, z.im)};
  const Parts flat = choose(left, negative, positive);
  return choose(is_infinite(z.im), {infinity, z.im}, choose(is_infinite(z.re), flat, usual));
}

namespace {

// e^x as `first` times `value` times `rest`, where a sine or cosine times these in this order
// neither overflows nor underflows before the result does.
struct Grown {
  Val first, value, rest;
};
Grown grown(const Val& x) {
  const ExpSplit s = exp_split(x.dtype());
  const Val beyond = ge(x, Scalar(s.limit));
  const Val one = one_like(x);
  return {where(beyond, number(x, s.half_scale), one), exp(where(beyond, x - Scalar(s.shift), x)),
          where(beyond, number(x, 2 * s.half_scale), one)};
}

}  // namespace

Parts complex_exp(const Parts& z) {
  const Grown e = grown(z.re);
  const Val turning = is_finite(z.im), on_axis = eq(z.im, Scalar(0.0));
  const Val re = where(on_axis, exp(z.re), e.first * cos(z.im) * e.value * e.rest);
  const Val im = where(on_axis, z.im, e.first * sin(z.im) * e.value * e.rest);
  // Without an angle: 0 of no sign at -inf, and an infinity of no sign at +inf.
  const Val gone = is_infinite(z.re) & ~turning;
  const Val left = lt(z.re, Scalar(0.0)), zero = zero_like(z.re);
  const Val lost = where(left, zero, number(z.re, kNan));
  return choose(gone, {where(left, zero, z.re), lost}, {re, im});
}

namespace {

// log(m^2 + n^2) / 2 for a greater part m in [1/4, 2): m^2 + n^2 - 1 with all its bits, by exact
// squares and Dekker's sum of -1 and m^2.
Val log_near_one(const Val& m, const Val& n) {
  const Val p = m * m, q = n * n;
  const Val p_rest = fma(m, m, -p), q_rest = fma(n, n, -q);
  const Val s = p - Scalar(1.0), s_rest = p - (s + Scalar(1.0));
  return log1p((s + q) + (p_rest + q_rest + s_rest)) * Scalar(0.5);
}

}  // namespace

Val log_abs(const Parts& z) {
  const Val m = greater_magnitude(z), n = min(abs(z.re), abs(z.im));
  const Val ratio = n / where(eq(m, Scalar(0.0)), one_like(m), m);
  const Val far = log(m) + log1p(ratio * ratio) * Scalar(0.5);
  const Val near = ge(m, Scalar(0.25)) & lt(m, Scalar(2.0));
  const Val inside = where(near, m, one_like(m));
  const Val r = where(near, log_near_one(inside, min(n, inside)), far);
  return where(either_infinite(z), number(m, kInfinity), r);
}

Parts complex_log(const Parts& z) {
  return {log_abs(z), atan2(z.im, z.re)};
}

// e^(b log a), where what is multiplied by an exact zero counts as nothing.
Parts complex_pow(const Parts& a, const Parts& b) {
  const Parts l = complex_log(a);
  const Val zero = zero_like(a.re);
  const auto times = [&](const Val& factor, const Val& x) {
    return where(eq(factor, Scalar(0.0)), zero, factor * x);
  };
  const Val growth = times(b.re, l.re);
  const Parts rounded =
      complex_exp({growth - times(b.im, l.im), times(b.re, l.im) + times(b.im, l.re)});
  // What the product's rounding cut off, which the exponential would have made a factor of. It is
  // small unless the power overflows or vanishes, whatever the factor is.
  const Val cut_off = fma(b.re, l.re, -growth);
  const Val lacking = where(lt(abs(cut_off), Scalar(0.5)), cut_off, zero) + Scalar(1.0);
  const Parts power = {rounded.re * lacking, rounded.im * lacking};
  const Val base_zero = eq(a.re, Scalar(0.0)) & eq(a.im, Scalar(0.0));
  const Val exponent_zero = eq(b.re, Scalar(0.0)) & eq(b.im, Scalar(0.0));
  const Val vanishes = base_zero & lt(zero, b.re);
  return choose(exponent_zero, {one_like(zero), zero}, choose(vanishes, {zero, zero}, power));
}

namespace {

// cosh u, sinh u, cos v and sin v multiplied in pairs, where the result is in range.
struct Turned {
  Val cosh_cos, sinh_sin, sinh_cos, cosh_sin;
};

// odd * x, where odd is an odd function of u and a zero u gives a zero even beside NaN.
Val times_odd(const Val& u, const Val& odd, const Val& x) {
  return where(eq(u, Scalar(0.0)), u * where(is_finite(x), x, one_like(x)), odd * x);
}

Turned turned(const Val& u, const Val& v) {
  const ExpSplit s = exp_split(u.dtype());
  const Val a = abs(u), usual = lt(a, Scalar(s.limit)), one = one_like(u);
  const Val beyond = exp(where(usual, zero_like(u), a - Scalar(s.shift)));  // never a denormal
  const Val rest = where(usual, one, number(u, s.half_scale));
  const Val c = where(usual, cosh(u), beyond);
  const Val h = where(usual, sinh(u), where(lt(u, Scalar(0.0)), -beyond, beyond));
  const Val cosine = cos(v) * rest, sine = sin(v) * rest;
  // An infinite u without an angle keeps its magnitude in the part with the cosine.
  const Val lost = is_infinite(u) & ~is_finite(v);
  // On the axis v = 0 the part with the sine is a zero even beside infinity and NaN.
  const Val on_axis = eq(v, Scalar(0.0));
  const Val signed_unit = where(eq(u, Scalar(0.0)), u, copysign(one, u));
  return {where(lost, number(u, kInfinity), c * cosine * rest),
          where(on_axis, v * signed_unit, times_odd(u, h, sine) * rest),
          where(lost, u, times_odd(u, h, cosine) * rest), where(on_axis, v, c * sine * rest)};
}

}  // namespace

Parts complex_sin(const Parts& z) {
  const Turned t = turned(z.im, z.re);
  return {t.cosh_sin, t.sinh_cos};
}

Parts complex_cos(const Parts& z) {
  const Turned t = turned(z.im, z.re);
  return {t.cosh_cos, -t.sinh_sin};
}

// Kahan's formula: with t = tan y and s = sinh x, (sqrt(1 + s^2) s (1 + t^2) + i t) over
// 1 + s^2 (1 + t^2); far out, where s^2 drowns the 1, sign(x) + 4i sin y cos y e^(-2|x|).
Parts complex_tanh(const Parts& z) {
  const Val a = abs(z.re), near = lt(a, Scalar(z.re.dtype() == DType::f64 ? 22.0 : 11.0));
  const Val x = where(near, z.re, zero_like(a));
  const Val t = unary(Prim::tan, z.im), s = sinh(x), square = s * s;
  const Val grown = Scalar(1.0) + t * t, below = Scalar(1.0) + grown * square;
  const Parts inside{grown * sqrt(Scalar(1.0) + square) * s / below, t / below};

  const Val faded = sin(z.im) * cos(z.im) * exp(a * Scalar(-2.0)) * Scalar(4.0);
  const Val signed_zero = copysign(zero_like(a), z.im);
  const Val lost = is_infinite(z.re) & ~is_finite(z.im);
  // Only an infinity without an angle has a limit.
  const Val side = where(is_infinite(z.re) | is_finite(z.im), one_like(a), number(a, kNan));
  const Parts outside{copysign(side, z.re), where(lost, signed_zero, faded)};

  const Parts unknown{z.re, where(eq(z.im, Scalar(0.0)), z.im, z.re)};
  const Val on_axis = eq(z.re, Scalar(0.0)) & ~is_finite(z.im);
  const Parts w = choose(near, inside, outside);
  return choose(is_unordered(z.re), unknown, {where(on_axis, z.re, w.re), w.im});
}

}  // namespace primset::decomps::math
