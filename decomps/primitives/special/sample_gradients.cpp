// Derivatives of samples by the parameters of their distribution, at a probability F(x; a) that
// stays: dx/da = -(dF/da) / (dF/dx). In both what F has before its series or fraction is in dF/dx
// too, and cancels.
#include <functional>
#include <vector>

#include "decomps/primitives/math.h"
#include "decomps/primitives/special.h"

namespace primset::decomps::prim {
namespace {

constexpr double kMostTerms = 4096;

// A value and its derivative.
struct Dual {
  Val value, slope;
};
Dual operator*(const Dual& x, const Dual& y) {
  return {x.value * y.value, x.slope * y.value + x.value * y.slope};
}
Dual operator/(const Dual& x, const Dual& y) {
  const Val inverse = math::number(y.value, 1) / y.value, q = x.value * inverse;
  return {q, (x.slope - q * y.slope) * inverse};
}
Dual operator+(const Dual& x, const Dual& y) {
  return {x.value + y.value, x.slope + y.slope};
}
Dual constant(const Val& like, double v) {
  return {math::number(like, v), math::number(like, 0)};
}

using Values = std::vector<Val>;

// What a change leaves out of a sum. An f32 result does not need what f64 could add to it.
double precision_of(DType result, DType computed) {
  if (result == DType::f64) return 0x1p-53;
  return computed == DType::f64 ? 0x1p-30 : 0x1p-25;
}

// Scalars of one type, carried on by `step` while the last one is positive: by how much a step
// changed the value or its derivative by more than the precision.
Values iterated(Tracer& t, Values carried, const std::function<Values(const Values&)>& step) {
  const DType type = carried[0].dtype();
  carried.push_back(math::number(carried[0], 0));  // how many steps
  carried.push_back(math::number(carried[0], 1));
  const std::vector<DType> types(carried.size(), type);
  const auto more = [=](const Values& v) {
    const size_t n = v.size();
    return Values{gt(v[n - 1], Scalar(0.0)) & lt(v[n - 2], Scalar(kMostTerms))};
  };
  const auto next = [&](const Values& v) {
    Values out = step(v);
    out.insert(out.end() - 1, v[v.size() - 2] + Scalar(1.0));
    return out;
  };
  return t.prim(Prim::while_loop, carried, {},
                {t.scalar_region(types, more), t.scalar_region(types, next)});
}

// What of a change of a Dual is above the precision, without a division.
Val excess(const Val& change, const Val& size, double precision) {
  return math::fma(size, math::number(size, -precision), change);
}

// That of a factor.
Val change(const Dual& before, const Dual& factor, const Dual& after, double precision) {
  const Val slope = math::abs(before.value * factor.slope);
  return math::max(math::abs(factor.value - Scalar(1.0)) - Scalar(precision),
                   excess(slope, math::abs(after.slope) + math::abs(after.value), precision));
}

// --- gamma ---

// P(a, x) = x^a e^-x / Gamma(a + 1) sum over n of t_n, t_n = x^n / ((a + 1) ... (a + n)), whose
// derivative has t_n h_n, h_n = 1 / (a + 1) + ... + 1 / (a + n). carried: a, x, n, t, h, sums.
Val gamma_by_series(Tracer& t, const Val& a, const Val& x, const Val& digamma_1, double precision) {
  const Val one = math::number(a, 1), none = math::number(a, 0);
  const Values v = iterated(t, {a, x, none, one, none, one, none}, [=](const Values& v) {
    const Val n = v[2] + Scalar(1.0), inverse = math::number(n, 1.0) / (v[0] + n);
    const Val term = v[3] * (v[1] * inverse), h = v[4] + inverse;
    const Val sum = v[5] + term, weighted = v[6] + term * h;
    const Val left = excess(term * math::max(h, math::number(h, 1.0)), sum, precision);
    return Values{v[0], v[1], n, term, h, sum, weighted, left};
  });
  return -x / a * (v[5] * (math::log(x) - digamma_1) - v[6]);
}

// Q(a, x) = x^a e^-x / Gamma(a) h of the continued fraction h = 1 / (b_0 - g_1 / (b_1 - ...)),
// where b_n = x + 1 - a + 2 n and g_n = n (n - a), by Steed's method: h is the sum of what each
// level adds, and a level takes one division. carried: a, b, n, d, d', the last addition, the sum.
Val gamma_by_fraction(Tracer& t, const Val& a, const Val& x, const Val& digamma_0,
                      double precision) {
  const Val none = math::number(a, 0), one = math::number(a, 1), b = x + Scalar(1.0) - a;
  const Val d = one / b, slope = d * d;
  const Values v = iterated(t, {a, b, none, d, slope, d, slope, d, slope}, [=](const Values& v) {
    const Val n = v[2] + Scalar(1.0), g = n * (n - v[0]), b = v[1] + Scalar(2.0);
    const Dual p = {g * v[3], math::fma(g, v[4], -n * v[3])};
    const Val d = math::number(n, 1.0) / (b - p.value);
    const Dual level = {d, (Scalar(1.0) + p.slope) * d * d};
    const Dual added = p * level * Dual{v[5], v[6]}, sum = Dual{v[7], v[8]} + added;
    const Val left = excess(math::abs(added.value) + math::abs(added.slope),
                            math::abs(sum.value) + math::abs(sum.slope), precision);
    return Values{v[0],        b,           n,         level.value, level.slope,
                  added.value, added.slope, sum.value, sum.slope,   left};
  });
  return x * (v[7] * (math::log(x) - digamma_0) + v[8]);
}

// For great a, Temme's uniform expansion (Uniform asymptotic expansions of the incomplete gamma
// functions, 1979): with l = x / a and eta^2 / 2 = l - 1 - log l it is l gamma*(a) (log l / (l - 1)
// + r / a), where r = c1 log l - c0 / 2 - c0' (l - 1) / eta. Near eta = 0, c0 and c1 are series.
Val gamma_by_expansion(const Val& a, const Val& x) {
  const Val l = x / a, m = (x - a) / a, logarithm = math::log1p(m);
  const Val eta = math::copysign(math::sqrt((m - logarithm) * Scalar(2.0)), m);
  const auto series = [&](std::initializer_list<double> coefficients) {
    Val y = math::number(eta, 0);
    for (double c : coefficients) y = y * eta + Scalar(c);
    return y;
  };
  const Val c0_near = series({1.0 / 2835, 1.0 / 864, -2.0 / 135, 1.0 / 12, -1.0 / 3});
  const Val slope_near = series({4.0 / 2835, 3.0 / 864, -4.0 / 135, 1.0 / 12});
  const Val c1_near = series({-77.0 / 77760, 1.0 / 378, -1.0 / 288, -1.0 / 540});
  const Val one = math::number(a, 1);
  const Val slope_far = one / (eta * eta) - l * eta / (m * m * m);
  const Val near = lt(math::abs(eta), Scalar(0.2));
  const Val c0 = where(near, c0_near, one / m - one / eta);
  const Val slope = where(near, slope_near, slope_far);
  const Val c1 = where(near, c1_near, slope_far / eta - one / (m * Scalar(12.0)));
  const Val at_mode = eq(m, Scalar(0.0));
  const Val r = logarithm * c1 - c0 * Scalar(0.5) - slope * where(at_mode, one, m / eta);
  const Val factor = one + (one / Scalar(12.0) + one / (a * Scalar(288.0))) / a;
  return l * factor * (where(at_mode, one, logarithm / m) + r / a);
}

// The expansion where `at` holds, else y: a loop of one round, which few numbers enter. The value
// takes the place of x, lest a compiler computes it before the loop.
Val with_expansion(Tracer& t, const Val& at, const Val& a, const Val& x, const Val& y) {
  const std::vector<DType> types(3, a.dtype());
  const auto more = [](const Values& v) { return Values{gt(v[0], Scalar(0.0))}; };
  const auto once = [](const Values& v) {
    return Values{math::number(v[0], 0), v[1], gamma_by_expansion(v[1], v[2])};
  };
  const Values v = t.prim(Prim::while_loop, {convert(at, a.dtype()), a, x}, {},
                          {t.scalar_region(types, more), t.scalar_region(types, once)});
  return where(at, v[2], y);
}

Val gamma_slope(Tracer& t, const Val& a, const Val& x, const Val& digamma_1, double precision) {
  const double great = a.dtype() == DType::f64 ? 10000 : 200;
  const Val one = math::number(a, 1);
  const Val by_expansion = ge(a, Scalar(great));
  const Val by_series = le(x, a + Scalar(1.0));
  // Where another way is taken the loop has nothing to do.
  const Val safe_a = where(by_expansion, one, a);
  const Val low = where(by_series & ~by_expansion, x, math::number(x, 0x1p-60));
  const Val high = where(by_series | by_expansion, math::number(x, 0x1p60), x);
  const Val series = gamma_by_series(t, safe_a, low, digamma_1, precision);
  const Val fraction = gamma_by_fraction(t, safe_a, high, digamma_1 - one / safe_a, precision);
  return with_expansion(t, by_expansion, a, x, where(by_series, series, fraction));
}

// --- beta ---

// The continued fraction of the incomplete beta function I_z(p, q) (Abramowitz and Stegun 26.5.8),
// by Lentz' method, with the derivative by p or q, whichever has a slope of 1. carried: p, q and
// their slopes, z, m, c, d, h.
Dual beta_fraction(Tracer& t, const Dual& p, const Dual& q, const Val& z, double precision) {
  const auto half_step = [=](const Dual& numerator, Dual& c, Dual& d, Dual& h) {
    const Val n = numerator.value;
    d = constant(n, 1) / (constant(n, 1) + numerator * d);
    c = constant(n, 1) + numerator / c;
    const Dual before = h, factor = c * d;
    h = before * factor;
    return change(before, factor, h, precision);
  };
  const Dual one = constant(z, 1);
  const Dual first = (p + q) * Dual{-z, math::number(z, 0)} / (p + one);
  const Dual d = one / (one + first);
  const Values v =
      iterated(t,
               {p.value, p.slope, q.value, q.slope, z, math::number(z, 0), one.value, one.slope,
                d.value, d.slope, d.value, d.slope},
               [&](const Values& v) {
                 const Val m = v[5] + Scalar(1.0);
                 const Dual p = {v[0], v[1]}, q = {v[2], v[3]}, z = {v[4], math::number(m, 0)};
                 const Dual step = {m, math::number(m, 0)}, two = step + step, one = constant(m, 1);
                 const Dual back = {-m, math::number(m, 0)}, minus = constant(m, -1);
                 Dual c = {v[6], v[7]}, d = {v[8], v[9]}, h = {v[10], v[11]};
                 const Dual even = step * (q + back) * z / ((p + minus + two) * (p + two));
                 const Val first_change = half_step(even, c, d, h);
                 const Dual odd = (p + step) * (p + q + step) * z / ((p + two) * (p + one + two));
                 const Val change = half_step({-odd.value, -odd.slope}, c, d, h);
                 return Values{v[0],
                               v[1],
                               v[2],
                               v[3],
                               v[4],
                               m,
                               c.value,
                               c.slope,
                               d.value,
                               d.slope,
                               h.value,
                               h.slope,
                               math::max(first_change, change)};
               });
  return {v[10], v[11]};
}

Val beta_slope(Tracer& t, const Val& x, const Val& a, const Val& total, const Val& digamma_a,
               const Val& digamma_total, double precision) {
  const Val b = total - a, one = math::number(x, 1), none = math::number(x, 0);
  const Val turned = gt(x, (a + Scalar(1.0)) / (total + Scalar(2.0)));
  const Dual p = {where(turned, b, a), where(turned, none, one)};
  const Dual q = {where(turned, a, b), where(turned, one, none)};
  const Dual h = beta_fraction(t, p, q, where(turned, Scalar(1.0) - x, x), precision);
  const Val level = math::log(x) - digamma_a + digamma_total;
  const Val direct = -x / a * (h.value * (level - one / a) + h.slope);
  const Val other = x / b * (h.value * level + h.slope);
  return where(turned, other, direct);
}

Val digamma_of(Tracer& t, const Val& x) {
  return t.call1("digamma", {x});
}

}  // namespace

Val gamma_grad::decompose(Tracer& t, const Val& a, const Val& x) {
  const Val wide_a = wide_opmath(a), wide_x = wide_opmath(x);
  const DType type = wide_a.dtype();
  const double precision = precision_of(a.dtype(), type);
  const Val nan = math::number(wide_a, math::kNan),
            infinity = math::number(wide_a, math::kInfinity);
  const Val usual = gt(wide_a, Scalar(0.0)) & lt(wide_a, infinity) & gt(wide_x, Scalar(0.0)) &
                    lt(wide_x, infinity);
  const Val safe_a = where(usual, wide_a, math::number(wide_a, 1)),
            safe_x = where(usual, wide_x, math::number(wide_x, 1));
  const auto body = [&](const std::vector<Val>& v) {
    return Values{gamma_slope(t, v[0], v[1], v[2], precision)};
  };
  const Val y = t.prim(Prim::map, {safe_a, safe_x, digamma_of(t, safe_a + Scalar(1.0))}, {},
                       {t.scalar_region({type, type, type}, body)})[0];
  const Val start = eq(wide_x, Scalar(0.0)) & gt(wide_a, Scalar(0.0)) & lt(wide_a, infinity);
  return convert(where(start, math::number(wide_x, 0), where(usual, y, nan)), a.dtype());
}

Val dirichlet_grad::decompose(Tracer& t, const Val& x, const Val& a, const Val& total) {
  const Val wide_x = wide_opmath(x), wide_a = wide_opmath(a), wide_total = wide_opmath(total);
  const DType type = wide_x.dtype();
  const double precision = precision_of(x.dtype(), type);
  const auto body = [&](const std::vector<Val>& v) {
    return Values{beta_slope(t, v[0], v[1], v[2], v[3], v[4], precision)};
  };
  const Val y = t.prim(
      Prim::map, {wide_x, wide_a, wide_total, digamma_of(t, wide_a), digamma_of(t, wide_total)}, {},
      {t.scalar_region(std::vector<DType>(5, type), body)})[0];
  return convert(where(eq(wide_x, Scalar(0.0)), math::number(wide_x, 0), y), x.dtype());
}

}  // namespace primset::decomps::prim
