// Sums, products, quotients, powers, extremes.
#include <cmath>
#include <complex>

#include "prims/reference/elementwise.h"
#include "prims/reference/float_format.h"

namespace primset::prims::reference {
namespace {

using Operands = std::span<const Element>;
using Complex = std::complex<long double>;

// long double has enough bits more than f32 and the halves that a basic operation rounded to it and
// then again is as if rounded once; for f64 it has not, and double arithmetic is used.
template <typename F>
long double basic(const ElementOp& op, long double x, long double y, F f) {
  if (real_type(op.to) != DType::f64) return f(x, y);
  return f(static_cast<double>(x), static_cast<double>(y));
}

constexpr auto plus = [](auto x, auto y) { return x + y; };
constexpr auto minus = [](auto x, auto y) { return x - y; };
constexpr auto times = [](auto x, auto y) { return x * y; };
constexpr auto over = [](auto x, auto y) { return x / y; };

template <typename F>
Element additive(const ElementOp& op, Operands x, F f) {
  long double spread = x[0].error + x[1].error;
  long double re = basic(op, x[0].re, x[1].re, f);
  if (!is_complex(op.to)) return rounded(op, re, spread);
  return rounded(op, re, basic(op, x[0].im, x[1].im, f), spread);
}

Element add(const ElementOp& op, Operands x) {
  if (any_undecided(x)) return undecided_element();
  if (!computes_integers(op.to)) return additive(op, x, plus);
  auto sum = static_cast<uint64_t>(x[0].integer) + static_cast<uint64_t>(x[1].integer);
  return integer_element(wrap(static_cast<int64_t>(sum), op.to));
}

Element sub(const ElementOp& op, Operands x) {
  if (any_undecided(x)) return undecided_element();
  if (!computes_integers(op.to)) return additive(op, x, minus);
  auto difference = static_cast<uint64_t>(x[0].integer) - static_cast<uint64_t>(x[1].integer);
  return integer_element(wrap(static_cast<int64_t>(difference), op.to));
}

// A product or quotient of complex numbers rounds several times: a device's may differ even for
// exact operands, by an error in proportion to the modulus.
Element several_roundings(const ElementOp& op, Complex r, long double spread) {
  long double own = 4 * unit_roundoff(op.to) * std::abs(r);
  return rounded(op, r.real(), r.imag(), std::isfinite(own) ? spread + own : 0);
}

Element complex_product(const ElementOp& op, Operands x) {
  Complex a(x[0].re, x[0].im), b(x[1].re, x[1].im);
  long double spread =
      std::abs(a) * x[1].error + std::abs(b) * x[0].error + x[0].error * x[1].error;
  return several_roundings(op, a * b, spread);
}

Element complex_quotient(const ElementOp& op, Operands x) {
  Complex a(x[0].re, x[0].im), b(x[1].re, x[1].im);
  long double least = std::abs(b) - x[1].error;
  if (x[1].error > 0 && least <= 0) return undecided_element();
  Complex q = a / b;
  long double spread = 0;
  if (x[0].error > 0 || x[1].error > 0) spread = (x[0].error + std::abs(q) * x[1].error) / least;
  return several_roundings(op, q, spread);
}

Element mul(const ElementOp& op, Operands x) {
  if (computes_integers(op.to)) {
    for (const Element& e : x) {
      if (!e.undecided && e.integer == 0) return integer_element(0);
    }
  }
  if (any_undecided(x)) return undecided_element();
  if (is_complex(op.to)) return complex_product(op, x);
  if (!computes_integers(op.to)) {
    return rounded(op, basic(op, x[0].re, x[1].re, times), corner_spread(x[0], x[1], times));
  }
  auto product = static_cast<uint64_t>(x[0].integer) * static_cast<uint64_t>(x[1].integer);
  return integer_element(wrap(static_cast<int64_t>(product), op.to));
}

// Of u64 the operands are bit patterns. A divisor of 0 gives 0.
int64_t divide(DType t, int64_t x, int64_t y) {
  if (y == 0) return 0;
  if (t == DType::u64) {
    return static_cast<int64_t>(static_cast<uint64_t>(x) / static_cast<uint64_t>(y));
  }
  if (y == -1) return static_cast<int64_t>(-static_cast<uint64_t>(x));
  return x / y;
}

bool holds_zero(const Element& y) {
  return y.error > 0 && std::fabs(y.re) <= y.error;
}

Element div(const ElementOp& op, Operands x) {
  if (any_undecided(x)) return undecided_element();
  if (computes_integers(op.to)) {
    return integer_element(wrap(divide(op.to, x[0].integer, x[1].integer), op.to));
  }
  if (is_complex(op.to)) return complex_quotient(op, x);
  if (holds_zero(x[1])) return undecided_element();
  return rounded(op, basic(op, x[0].re, x[1].re, over), corner_spread(x[0], x[1], over));
}

Element rem(const ElementOp& op, Operands x) {
  if (any_undecided(x)) return undecided_element();
  int64_t i = x[0].integer, j = x[1].integer;
  if (computes_integers(op.to)) {
    auto multiple = static_cast<uint64_t>(divide(op.to, i, j)) * static_cast<uint64_t>(j);
    return integer_element(j == 0 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(i) - multiple));
  }
  long double r = std::fmod(x[0].re, x[1].re);
  if (x[0].error == 0 && x[1].error == 0) return rounded(op, r, 0);
  // Where the truncated quotient may be another the remainder jumps.
  auto quotient = [](long double a, long double b) { return std::trunc(a / b); };
  if (holds_zero(x[1]) || corner_spread(x[0], x[1], quotient) != 0) return undecided_element();
  return rounded(op, r, x[0].error + std::fabs(quotient(x[0].re, x[1].re)) * x[1].error);
}

int64_t integer_power(DType t, int64_t x, int64_t y) {
  if (!is_unsigned_integer(t) && y < 0) {
    if (x == 1 || x == -1) return y % 2 ? x : 1;
    return 0;
  }
  uint64_t power = 1, base = static_cast<uint64_t>(x), exponent = static_cast<uint64_t>(y);
  for (; exponent; exponent >>= 1, base *= base) {
    if (exponent & 1) power *= base;
  }
  return static_cast<int64_t>(power);
}

Element pow(const ElementOp& op, Operands x) {
  if (any_undecided(x)) return undecided_element();
  if (computes_integers(op.to)) {
    return integer_element(wrap(integer_power(op.to, x[0].integer, x[1].integer), op.to));
  }
  auto power = [](long double a, long double b) { return std::pow(a, b); };
  // Between the corners lies a pole or another branch.
  if (holds_zero(x[0]) && !(x[1].re - x[1].error > 0)) return undecided_element();
  return rounded(op, power(x[0].re, x[1].re), corner_spread(x[0], x[1], power));
}

Element atan2(const ElementOp& op, Operands x) {
  if (any_undecided(x)) return undecided_element();
  auto angle = [](long double y, long double z) { return std::atan2(y, z); };
  // The cut: the negative half of the second operand's axis.
  bool beside_cut = x[0].error > 0 && std::fabs(x[0].re) <= x[0].error;
  if (beside_cut && !(x[1].re - x[1].error > 0)) return undecided_element();
  if (x[0].re == 0 && holds_zero(x[1])) return undecided_element();
  return rounded(op, angle(x[0].re, x[1].re), corner_spread(x[0], x[1], angle));
}

// x unless the other is better; a NaN is better than everything.
template <bool Max>
Element extreme(const ElementOp& op, Operands x) {
  if (any_undecided(x)) return undecided_element();
  if (is_nan(x[0])) return x[0];
  bool second = is_nan(x[1]) || (Max ? less(op.to, x[0], x[1]) : less(op.to, x[1], x[0]));
  Element r = second ? x[1] : x[0];
  if (is_nan(r)) return r;
  // Only an operand that may be the extreme one counts.
  if (may_tie_or_cross(x[0], x[1])) r.error = std::fmax(x[0].error, x[1].error);
  return r;
}

// x + y as a long double whose last bit is set when it is inexact, so that rounding it again to a
// narrower format is as if it had been rounded once.
long double add_to_odd(long double x, long double y) {
  long double sum = x + y;
  if (!std::isfinite(sum)) return sum;
  long double back = sum - x;
  long double rest = (x - (sum - back)) + (y - back);  // Knuth's exact error of the sum
  if (rest == 0) return sum;
  int exponent;
  long double significand = std::ldexp(std::frexp(sum, &exponent), 64);
  bool odd = std::fmod(significand, 2) != 0;
  return odd ? sum : std::nextafter(sum, rest > 0 ? HUGE_VALL : -HUGE_VALL);
}

Element fma(const ElementOp& op, Operands x) {
  if (any_undecided(x)) return undecided_element();
  if (computes_integers(op.to)) {
    Element product[] = {mul(op, x.first(2)), x[2]};
    return add(op, product);
  }
  if (is_complex(op.to)) {
    Element product[] = {complex_product(op, x.first(2)), x[2]};
    return add(op, product);
  }
  long double spread = corner_spread(x[0], x[1], times) + x[2].error;
  // The product of two f32 is exact in a long double.
  long double r = op.to == DType::f64
                      ? std::fma(static_cast<double>(x[0].re), static_cast<double>(x[1].re),
                                 static_cast<double>(x[2].re))
                      : add_to_odd(x[0].re * x[1].re, x[2].re);
  if (byte_size(op.to) == 2) r = round_to(r, DType::f32);
  return rounded(op, r, spread);
}

}  // namespace

void add_arithmetic(ElementTable& t) {
  t.set(Prim::add, reference::add);
  t.set(Prim::sub, reference::sub);
  t.set(Prim::mul, reference::mul);
  t.set(Prim::div, reference::div);
  t.set(Prim::rem, reference::rem);
  t.set(Prim::pow, reference::pow);
  t.set(Prim::atan2, reference::atan2);
  t.set(Prim::min, extreme<false>);
  t.set(Prim::max, extreme<true>);
  t.set(Prim::fma, reference::fma);
}

}  // namespace primset::prims::reference
