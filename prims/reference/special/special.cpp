// Special functions as primitives. A device may be off by its tolerance, and where a function is
// steep or passes through zero by what a few roundings of its operands come to: its approximations
// round intermediate values that stand for the operand, a phase or an exponent above all.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>

#include "prims/reference/elementwise.h"
#include "prims/reference/float_format.h"
#include "prims/reference/special/functions.h"

namespace primset::prims::reference {
namespace {

using Numbers = std::span<const long double>;

// How far a function goes from zero, and the phase by which it does.
struct Wave {
  long double (*amplitude)(long double size);
  long double (*phase)(long double size);
};

struct SpecialFunction {
  Prim prim;
  long double (*value)(const ElementOp&, Numbers);
  double roundings = 0;  // of the operands, in units of the compute dtype's
  const Wave* wave = nullptr;
  // Where what a device computes on the way leaves the range of the compute dtype.
  bool (*is_lost)(const ElementOp&, Numbers x, long double value) = nullptr;
  bool is_polynomial = false;
};

template <long double (*F)(long double)>
long double of_one(const ElementOp&, Numbers x) {
  return F(x[0]);
}
template <long double (*F)(long double, long double)>
long double of_two(const ElementOp&, Numbers x) {
  return F(x[0], x[1]);
}

// A scaled Bessel function times the exponential, which overflows before the product does.
template <long double (*Scaled)(long double)>
long double grown(const ElementOp& op, Numbers x) {
  return std::isinf(round_to(std::exp(std::fabs(x[0])), op.compute))
             ? Scaled(x[0]) * HUGE_VALL
             : std::exp(std::fabs(x[0])) * Scaled(x[0]);
}
template <long double (*Scaled)(long double)>
long double faded(const ElementOp&, Numbers x) {
  return std::isinf(x[0]) && x[0] > 0 ? 0 : std::exp(-x[0]) * Scaled(x[0]);
}

long double polygamma(const ElementOp& op, Numbers x) {
  return special::polygamma(static_cast<long double>(op.node->attr<int64_t>("n")), x[0]);
}

template <long double (*F)(long double, long double)>
long double of_degree(const ElementOp&, Numbers x) {
  return F(x[0], std::trunc(x[1]));
}
template <long double (*F)(long double, long double)>
long double of_shifted(const ElementOp& op, Numbers x) {
  return F(op.node->attr<bool>("shifted") ? 2 * x[0] - 1 : x[0], std::trunc(x[1]));
}
template <long double (*F)(long double, long double)>
long double hermite(const ElementOp& op, Numbers x) {
  const long double highest = op.to == DType::f64 ? 512 : 128;  // as ATen has it
  return std::trunc(x[1]) > highest ? std::nanl("") : F(x[0], std::trunc(x[1]));
}

bool is_too_small(const ElementOp& op, long double v) {
  return v < std::ldexp(1.0L, format(op.compute).min_exponent);
}
bool is_zeta_lost(const ElementOp& op, Numbers x, long double value) {
  return round_to(value, op.compute) != 0 && is_too_small(op, std::pow(std::fabs(x[1]), -x[0]));
}
// At the poles below 0 the first order divides by the square of a rounded sine.
bool is_polygamma_lost(const ElementOp& op, Numbers x, long double value) {
  const auto n = static_cast<long double>(op.node->attr<int64_t>("n"));
  if (n == 1) return x[0] < 0 && std::isfinite(x[0]) && x[0] == std::floor(x[0]);
  const long double arguments[] = {n + 1, x[0]};
  return n > 1 && is_zeta_lost(op, arguments, value);
}
// A recurrence beyond the range goes on with infinities, and may end with NaN.
bool is_polynomial_lost(const ElementOp& op, Numbers, long double value) {
  constexpr long double kRoom = 1024;  // what a step multiplies by before it divides
  return std::isinf(round_to(value * kRoom, op.to));
}
bool is_airy_lost(const ElementOp& op, Numbers x, long double) {
  return x[0] < 0 && std::isinf(round_to(std::pow(-x[0], 1.5L), op.compute));
}

constexpr Wave kBesselWave{[](long double size) { return std::fmin(1.0L, std::sqrt(2 / size)); },
                           [](long double size) { return size; }};
constexpr Wave kAiryWave{
    [](long double size) { return std::fmin(1.0L, 1 / std::sqrt(std::sqrt(size))); },
    [](long double size) { return size * std::sqrt(size); }};

constexpr SpecialFunction polynomial(Prim p, decltype(SpecialFunction::value) value) {
  SpecialFunction f{p, value, 16, nullptr, is_polynomial_lost};
  f.is_polynomial = true;
  return f;
}

constexpr SpecialFunction kSpecial[] = {
    {Prim::erfinv, of_one<special::erfinv>},
    {Prim::erfcx, of_one<special::erfcx>, 4},
    {Prim::ndtri, of_one<special::ndtri>},
    {Prim::log_ndtr, of_one<special::log_ndtr>, 4},
    {Prim::lgamma, of_one<special::lgamma>, 4},
    {Prim::digamma, of_one<special::digamma>, 16},
    {Prim::polygamma, polygamma, 8, nullptr, is_polygamma_lost},
    {Prim::zeta, of_two<special::zeta>, 4, nullptr, is_zeta_lost},
    {Prim::bessel_j0, of_one<special::bessel_j0>, 8, &kBesselWave},
    {Prim::bessel_j1, of_one<special::bessel_j1>, 8, &kBesselWave},
    {Prim::bessel_y0, of_one<special::bessel_y0>, 8, &kBesselWave},
    {Prim::bessel_y1, of_one<special::bessel_y1>, 8, &kBesselWave},
    {Prim::bessel_i0, grown<special::bessel_i0e>},
    {Prim::bessel_i0e, of_one<special::bessel_i0e>},
    {Prim::bessel_i1, grown<special::bessel_i1e>},
    {Prim::bessel_i1e, of_one<special::bessel_i1e>},
    {Prim::bessel_k0, faded<special::bessel_k0e>},
    {Prim::bessel_k0e, of_one<special::bessel_k0e>},
    {Prim::bessel_k1, faded<special::bessel_k1e>},
    {Prim::bessel_k1e, of_one<special::bessel_k1e>},
    {Prim::spherical_bessel_j0, of_one<special::spherical_bessel_j0>},
    {Prim::airy_ai, of_one<special::airy_ai>, 64, &kAiryWave, is_airy_lost},
    polynomial(Prim::chebyshev_t, of_shifted<special::chebyshev_t>),
    polynomial(Prim::chebyshev_u, of_shifted<special::chebyshev_u>),
    polynomial(Prim::chebyshev_v, of_shifted<special::chebyshev_v>),
    polynomial(Prim::chebyshev_w, of_shifted<special::chebyshev_w>),
    polynomial(Prim::hermite_h, hermite<special::hermite_h>),
    polynomial(Prim::hermite_he, hermite<special::hermite_he>),
    polynomial(Prim::laguerre_l, of_degree<special::laguerre_l>),
    polynomial(Prim::legendre_p, of_degree<special::legendre_p>),
};

const SpecialFunction& special_function(Prim p) {
  return *std::ranges::find(kSpecial, p, &SpecialFunction::prim);
}

// How far the value moves when the operand at `at` does by `step`; NaN into another class.
long double moved(const SpecialFunction& f, const ElementOp& op, std::vector<long double> x,
                  size_t at, long double step, long double value) {
  const long double middle = x[at];
  long double most = 0;
  for (long double place : {middle - step, middle + step}) {
    x[at] = place;
    const long double d = distance(f.value(op, x), value);
    if (std::isnan(d)) return d;
    most = std::max(most, d);
  }
  return most;
}

Element evaluate(const ElementOp& op, std::span<const Element> operands) {
  if (any_undecided(operands)) return undecided_element();
  const SpecialFunction& f = special_function(op.prim);
  std::vector<long double> x;
  for (const Element& e : operands) x.push_back(e.re);
  const long double value = f.value(op, x);
  if (f.is_lost && f.is_lost(op, x, value)) return undecided_element();
  long double spread = 0, rounding = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (operands[i].error > 0) spread += moved(f, op, x, i, operands[i].error, value);
    if (f.roundings == 0 || !std::isfinite(value)) continue;
    // Beside the 1 that a polynomial's argument is shifted by, or its angle, a small one is lost.
    if (f.is_polynomial && i > 0) continue;  // the degree is whole
    const long double size = std::max(std::fabs(x[i]), f.is_polynomial ? 1.0L : 0.0L);
    // A recurrence rounds once more with each degree.
    const long double steps = f.is_polynomial ? 1 + std::fmax(0.0L, x[1]) : 1;
    const long double step = steps * f.roundings * unit_roundoff(op.compute) * size;
    const long double d = moved(f, op, x, i, step, value);
    rounding += std::isnan(d) ? 0 : d;
  }
  // So fast a wave that three places do not show how far it goes.
  const long double size = std::fabs(x[0]);
  if (f.wave && f.wave->phase(size) * f.roundings * unit_roundoff(op.compute) > 0.1L)
    rounding = 2 * f.wave->amplitude(size);
  return rounded(op, value, spread + rounding);
}

// --- complex ---

using Complex = std::complex<long double>;

// The real part next to 0 by the square of the modulus less 1.
Complex complex_log1p(const Complex& z) {
  const Complex whole = std::log(Complex(1 + z.real(), z.imag()));
  if (!(std::abs(z) < 0.5L)) return whole;
  if (z == Complex()) return z;
  const long double beside = z.real() * (2 + z.real()) + z.imag() * z.imag();
  return {std::log1p(beside) / 2, whole.imag()};
}

// Both parts move by a few roundings of either.
template <Complex (*F)(const Complex&)>
Element evaluate_complex(const ElementOp& op, std::span<const Element> operands) {
  if (any_undecided(operands)) return undecided_element();
  const Complex z(operands[0].re, operands[0].im), w = F(z);
  const long double error = operands[0].error;
  long double spread = 0;
  for (const Complex& side : {Complex(1, 0), Complex(-1, 0), Complex(0, 1), Complex(0, -1)}) {
    const long double d = std::abs(F(z + error * side) - w);
    if (error > 0) spread = std::isnan(d) ? d : std::max(spread, d);
  }
  return rounded(op, w.real(), w.imag(), spread);
}

}  // namespace

void add_special(ElementTable& t) {
  for (const SpecialFunction& f : kSpecial) t.set(f.prim, evaluate);
  t.set(Prim::complex_tan, evaluate_complex<std::tan<long double>>);
  t.set(Prim::complex_sinh, evaluate_complex<std::sinh<long double>>);
  t.set(Prim::complex_cosh, evaluate_complex<std::cosh<long double>>);
  t.set(Prim::complex_log1p, evaluate_complex<complex_log1p>);
  t.set(Prim::complex_asin, evaluate_complex<std::asin<long double>>);
  t.set(Prim::complex_acos, evaluate_complex<std::acos<long double>>);
  t.set(Prim::complex_atan, evaluate_complex<std::atan<long double>>);
  t.set(Prim::complex_asinh, evaluate_complex<std::asinh<long double>>);
  t.set(Prim::complex_acosh, evaluate_complex<std::acosh<long double>>);
  t.set(Prim::complex_atanh, evaluate_complex<std::atanh<long double>>);
}

}  // namespace primset::prims::reference
