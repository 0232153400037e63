#include "decomps/primitives/complex_sum.h"

#include <numbers>

#include "decomps/engine/shape_ops.h"
#include "decomps/primitives/math.h"

namespace primset::decomps::prim {
namespace {

Val at(const Val& x, double infinity) {
  return eq(x, Scalar(infinity));
}

// Of neither part is known what it is.
Val is_lost(const math::Parts& z) {
  return math::is_unordered(z.re) | math::is_unordered(z.im);
}

// The element before each along dim; `first` before the first.
Val before(const Val& x, int64_t dim, const Scalar& first) {
  SymInts low(x.shape().size(), 0), high = low, interior = low;
  low[static_cast<size_t>(dim)] = 1;
  high[static_cast<size_t>(dim)] = -1;
  return x.tracer().prim1(Prim::pad, {x, x.tracer().constant(first, x.dtype())},
                          {{"low", low}, {"high", high}, {"interior", interior}});
}

constexpr double kTurn = 2 * std::numbers::pi;

// The number of whole turns from an angle to the one next to `near`.
Val turns_between(const Val& angle, const Val& near) {
  return unary(Prim::floor, (near - angle) * Scalar(1 / kTurn) + Scalar(0.5));
}

Val turned(const Val& angle, const Val& turns) {
  // A turn is the sum of two numbers of the type.
  const bool wide = angle.dtype() == DType::f64;
  const double most = wide ? kTurn : double{static_cast<float>(kTurn)};
  const double rest = wide ? 2.4492935982947064e-16 : kTurn - most;
  return math::fma(turns, math::number(angle, most),
                   math::fma(turns, math::number(angle, rest), angle));
}

// Sums of turns along dim, each from the last place that is `fresh` on; whether there is one, and
// whether anything up to there is `lost`.
std::vector<Val> scan_turns(const Val& turns, const Val& fresh, const Val& lost, int64_t dim) {
  Tracer& t = turns.tracer();
  const auto combine = [](const std::vector<Val>& v) -> std::vector<Val> {
    return {where(v[4], v[3], v[0] + v[3]), v[1] | v[4], v[2] | v[5]};
  };
  const DType type = turns.dtype();
  const Val no = t.constant(Scalar(false), DType::boolean);
  return t.prim(
      Prim::scan, {turns, fresh, lost, t.constant(Scalar(0.0), type), no, no},
      {{"dim", dim}, {"ordered", false}},
      {t.scalar_region({type, DType::boolean, DType::boolean, type, DType::boolean, DType::boolean},
                       combine)});
}

}  // namespace

ComplexSum exponential(const math::Parts& z) {
  const Val vanishes = at(z.re, -math::kInfinity), zero = math::number(z.re, 0.0);
  const math::Parts direction{where(vanishes, zero, math::cos(z.im)),
                              where(vanishes, zero, math::sin(z.im))};
  return {z.re, direction, z.im,
          z.re.tracer().constant(Scalar(false), DType::boolean, z.re.shape())};
}

// ATen's rules where parts are not finite: what is infinitely greater remains alone; two numbers at
// +inf are added up as they are, as C's cexp has them.
ComplexSum add(const ComplexSum& a, const ComplexSum& b) {
  const Val a_above = at(a.top, math::kInfinity), b_above = at(b.top, math::kInfinity);
  const Val unbounded = a_above & b_above;
  const Val a_alone = at(b.top, -math::kInfinity) | (a_above & ~b_above);
  const Val b_alone = ~a_alone & (at(a.top, -math::kInfinity) | (b_above & ~a_above));

  const Val top = math::max(a.top, b.top), one = math::number(top, 1.0);
  const Val truth = top.tracer().constant(Scalar(true), DType::boolean);
  const Val share = math::exp(math::min(a.top, b.top) - top);
  const Val a_share = where(lt(a.top, b.top), share, one);
  const Val b_share = where(lt(b.top, a.top), share, one);
  const auto sum_of = [&](const Val& x, const Val& y) {
    const auto grown = [&](const Val& v) {
      return where(unbounded & ne(v, Scalar(0.0)), v * Scalar(math::kInfinity), v);
    };
    return where(a_alone, x, where(b_alone, y, grown(x) * a_share + grown(y) * b_share));
  };
  // An infinite angle has no direction: such a number is infinite to the right.
  const auto right = [&](const ComplexSum& x) {
    return where(unbounded & ~x.many & math::is_unordered(x.scaled.re), one, x.scaled.re);
  };
  const math::Parts sum{sum_of(right(a), right(b)), sum_of(a.scaled.im, b.scaled.im)};
  return {top, sum, where(b_alone, b.angle, a.angle),
          where(a_alone, a.many, where(b_alone, b.many, truth))};
}

namespace {

// The logarithm; of a sum of many numbers the angle is the principal one.
math::Parts principal_logarithm(const ComplexSum& x) {
  const math::Parts& sum = x.scaled;
  const Val infinite = math::is_infinite(sum.re) | math::is_infinite(sum.im);
  const Val square = where(infinite, x.top, sum.re * sum.re + sum.im * sum.im);
  return {where(x.many, x.top + math::log(square) * Scalar(0.5), x.top),
          where(x.many, math::atan2(sum.im, sum.re), x.angle)};
}

// Whole turns from the principal angle of sum = before + e^z on; `fresh`: from the principal one of
// the sum before where not. Where z adds nothing there are none; a sum of one number, or of
// infinite ones, has none either.
struct Turns {
  Val count, fresh;
};
Turns turns_of(const ComplexSum& sum, const Val& principal, const math::Parts& before,
               const math::Parts& z) {
  const Val adds = ~at(z.re, -math::kInfinity), from_z = le(before.re, z.re);
  const Val settled = ~sum.many | at(sum.top, math::kInfinity);
  const Val count = turns_between(principal, where(from_z, z.im, before.im));
  return {where(settled | ~adds, math::number(principal, 0.0), count), settled | (adds & from_z)};
}

}  // namespace

math::Parts logarithm_of_sum(const math::Parts& a, const math::Parts& b) {
  const ComplexSum sum = add(exponential(a), exponential(b));
  const math::Parts log = principal_logarithm(sum);
  const Val angle = turned(log.im, turns_of(sum, log.im, a, b).count);
  const Val lost = is_lost(a) | is_lost(b), nan = math::number(angle, math::kNan);
  return {where(lost, nan, log.re), where(lost, nan, angle)};
}

math::Parts logarithms_of_prefixes(const ComplexSum& sums, const math::Parts& z, int64_t dim) {
  math::Parts log = principal_logarithm(sums);
  const Val zero = math::number(log.im, 0.0);
  log.im = where(at(sums.top, -math::kInfinity), zero, log.im);
  const math::Parts previous{before(log.re, dim, Scalar(-math::kInfinity)),
                             before(log.im, dim, Scalar(0.0))};
  const Turns turns = turns_of(sums, log.im, previous, z);
  const Val lost = is_lost(z) | is_lost(previous);
  const std::vector<Val> scanned = scan_turns(turns.count, turns.fresh, lost, dim);
  const Val nan = math::number(log.re, math::kNan);
  return {where(scanned[2], nan, log.re), where(scanned[2], nan, turned(log.im, scanned[0]))};
}

}  // namespace primset::decomps::prim
