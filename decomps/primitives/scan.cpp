#include "decomps/primitives/scan.h"

#include <numbers>
#include <span>

#include "decomps/primitives/elementwise/complex_parts.h"
#include "decomps/primitives/math.h"

namespace primset::decomps::prim {
namespace {

// log(e^a + e^b), shifted by the greater one; equal infinities have the difference 0.
Val log_add_exp(const Val& a, const Val& b) {
  const Val high = math::max(a, b), low = math::min(a, b);
  const Val apart = where(eq(a, b), math::number(a, 0.0), low - high);
  return high + math::log1p(math::exp(apart));
}

// A sum of exponentials of complex numbers: e^top * scaled, where top is the greatest real part of
// them; and its logarithm, whose angle goes on in whole turns from that of its greater part, as
// ATen's does (aten/src/ATen/native/cpu/LogAddExp.h). Sums lose less than logarithms would, which
// would be rounded at each step.
struct ComplexSum {
  Val top;
  math::Parts scaled, log;

  explicit ComplexSum(std::span<const Val> v) : top(v[0]), scaled{v[1], v[2]}, log{v[3], v[4]} {}
  ComplexSum(const Val& top, const math::Parts& scaled, const math::Parts& log)
      : top(top), scaled(scaled), log(log) {}
  std::vector<Val> values() const { return {top, scaled.re, scaled.im, log.re, log.im}; }
};

// Of one number. e^-inf is 0, whatever the angle.
ComplexSum exponential(const math::Parts& z) {
  const Val vanishes = eq(z.re, Scalar(-math::kInfinity)), zero = math::number(z.re, 0.0);
  const math::Parts direction{where(vanishes, zero, math::cos(z.im)),
                              where(vanishes, zero, math::sin(z.im))};
  return {z.re, direction, z};
}

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

// Where a sum cancels, what it was rounded to before shows: as in ATen, c128 where that is fast.
Val scan_complex(Tracer& t, const Val& x, int64_t dim) {
  const ComplexSum first = exponential(math::parts(wide_opmath(x)));
  const DType type = first.top.dtype();
  std::vector<Val> operands = first.values();
  const auto start = [&](double v) { operands.push_back(t.constant(Scalar(v), type)); };
  for (double v : {-math::kInfinity, 0.0, 0.0, -math::kInfinity, 0.0}) start(v);
  const auto combine = [](const std::vector<Val>& v) {
    return add(ComplexSum(std::span(v).first(5)), ComplexSum(std::span(v).last(5))).values();
  };
  // The angle grows by whole turns, by other ones in another order.
  const auto sums = t.prim(Prim::scan, operands, {{"dim", dim}, {"ordered", true}},
                           {t.scalar_region(std::vector<DType>(10, type), combine)});
  return complex(sums[3], sums[4]);
}

}  // namespace

Val scan_log_add_exp::decompose(Tracer& t, const Val& x, int64_t dim) {
  if (is_complex(x.dtype())) return scan_complex(t, x, dim);
  const Val wide = opmath(x);
  const DType type = wide.dtype();
  const auto combine = [](const std::vector<Val>& v) {
    return std::vector<Val>{log_add_exp(v[0], v[1])};
  };
  const Val sums =
      t.prim(Prim::scan, {wide, t.constant(Scalar(-math::kInfinity), type)},
             {{"dim", dim}, {"ordered", false}}, {t.scalar_region({type, type}, combine)})[0];
  return convert(sums, x.dtype());
}

}  // namespace primset::decomps::prim
