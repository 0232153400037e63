#include "decomps/primitives/complex_sum.h"

#include <numbers>

#include "decomps/primitives/math.h"

namespace primset::decomps::prim {
namespace {

// The angle, as many whole turns further as bring it next to `near`.
Val turned(const Val& angle, const Val& near) {
  constexpr double kTurn = 2 * std::numbers::pi;
  // A turn is the sum of two numbers of the type.
  const bool wide = near.dtype() == DType::f64;
  const double most = wide ? kTurn : double{static_cast<float>(kTurn)};
  const double rest = wide ? 2.4492935982947064e-16 : kTurn - most;
  const Val turns = unary(Prim::floor, (near - angle) * Scalar(1 / kTurn) + Scalar(0.5));
  return math::fma(turns, math::number(angle, most),
                   math::fma(turns, math::number(angle, rest), angle));
}

}  // namespace

ComplexSum exponential(const math::Parts& z) {
  const Val vanishes = eq(z.re, Scalar(-math::kInfinity)), zero = math::number(z.re, 0.0);
  const math::Parts direction{where(vanishes, zero, math::cos(z.im)),
                              where(vanishes, zero, math::sin(z.im))};
  return {z.re, direction, z};
}

// ATen's rules where parts are not finite: what is infinitely greater remains alone; two numbers at
// +inf are added up as they are, as C's cexp has them; NaN in a part is NaN in both.
ComplexSum add(const ComplexSum& a, const ComplexSum& b) {
  const auto at = [](const ComplexSum& x, double infinity) { return eq(x.top, Scalar(infinity)); };
  const Val unbounded = at(a, math::kInfinity) & at(b, math::kInfinity);
  const Val a_alone = at(b, -math::kInfinity) | (at(a, math::kInfinity) & ~unbounded);
  const Val b_alone = ~a_alone & (at(a, -math::kInfinity) | (at(b, math::kInfinity) & ~unbounded));

  const Val top = math::max(a.top, b.top), one = math::number(top, 1.0);
  const Val share = math::exp(math::min(a.top, b.top) - top);
  const Val a_share = where(lt(a.top, b.top), share, one);
  const Val b_share = where(lt(b.top, a.top), share, one);
  const auto part_of = [&](const Val& x, const Val& y) {
    const auto grown = [&](const Val& v) {
      return where(unbounded & ne(v, Scalar(0.0)), v * Scalar(math::kInfinity), v);
    };
    return where(a_alone, x, where(b_alone, y, grown(x) * a_share + grown(y) * b_share));
  };
  // An infinite angle has no direction: such a number is infinite to the right.
  const auto right = [&](const Val& v) { return where(unbounded & math::is_unordered(v), one, v); };
  const math::Parts sum{part_of(right(a.scaled.re), right(b.scaled.re)),
                        part_of(a.scaled.im, b.scaled.im)};

  const Val infinite = math::is_infinite(sum.re) | math::is_infinite(sum.im);
  const Val square = where(infinite, top, sum.re * sum.re + sum.im * sum.im);
  const Val length = top + math::log(square) * Scalar(0.5);
  const Val principal = math::atan2(sum.im, sum.re);
  const Val greater = where(le(a.log.re, b.log.re), b.log.im, a.log.im);
  const Val angle = where(unbounded, principal, turned(principal, greater));
  const Val lost = math::is_unordered(a.log.re) | math::is_unordered(a.log.im) |
                   math::is_unordered(b.log.re) | math::is_unordered(b.log.im);
  const auto part = [&](const Val& x, const Val& y, const Val& both) {
    const Val known = where(a_alone, x, where(b_alone, y, both));
    return where(lost, math::number(x, math::kNan), known);
  };
  return {top, sum, {part(a.log.re, b.log.re, length), part(a.log.im, b.log.im, angle)}};
}

}  // namespace primset::decomps::prim
