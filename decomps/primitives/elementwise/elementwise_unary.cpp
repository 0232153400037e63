// Functions of one real number. asin and acos take nothing but arithmetic and square roots, so
// their error does not hang on a device's transcendentals.
#include "decomps/primitives/elementwise_unary.h"

#include <span>

#include "decomps/primitives/math.h"

namespace primset::decomps::prim {
namespace {

// pi/2 as the sum of two numbers of the dtype.
struct HalfPi {
  double high, low;
};
HalfPi half_pi(DType t) {
  if (t == DType::f64) return {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
  return {0x1.921fb6p+0, -0x1.777a5cp-25};
}

// c[0] + c[1] x + ... by Horner's scheme.
Val polynomial(const Val& x, std::span<const double> c) {
  Val sum = math::number(x, c.back());
  for (size_t i = c.size() - 1; i-- > 0;) sum = math::fma(x, sum, math::number(x, c[i]));
  return sum;
}

// (asin(s) / s - 1) for z = s^2 <= 1/4: of f64 the rational approximation of FreeBSD's e_asin.c, of
// f32 a polynomial, with which asin(s) has a relative error of 2^-27.6.
Val arcsine_excess(const Val& z) {
  static constexpr double kP64[] = {1.66666666666666657415e-01, -3.25565818622400915405e-01,
                                    2.01212532134862925881e-01, -4.00555345006794114027e-02,
                                    7.91534994289814532176e-04, 3.47933107596021167570e-05};
  static constexpr double kQ64[] = {1.0, -2.40339491173441421878e+00, 2.02094576023350569471e+00,
                                    -6.88283971605453293030e-01, 7.70381505559019352791e-02};
  static constexpr double kP32[] = {0x1.5555c8p-3, 0x1.330204p-4, 0x1.747bb8p-5, 0x1.8c3e50p-6,
                                    0x1.595c60p-5};
  if (z.dtype() == DType::f64) return z * polynomial(z, kP64) / polynomial(z, kQ64);
  return z * polynomial(z, kP32);
}

// For a magnitude a > 1/2: asin(a) = pi/2 - 2 asin(root), with root = sqrt((1 - a) / 2). Up to
// there asin is taken of `inner`, which is a or x.
struct Arcsine {
  Val inner, near_zero;
  Val root, excess;  // excess: asin less its argument, which is inner or root
};
Arcsine arcsine(const Val& a, const Val& inner) {
  const Val near_zero = lt(a, Scalar(0.5)), w = (Scalar(1.0) - a) * Scalar(0.5);
  const Val root = math::sqrt(w);
  const Val excess = where(near_zero, inner, root) * arcsine_excess(where(near_zero, a * a, w));
  if (a.dtype() != DType::f64) return {inner, near_zero, root, excess};
  // What rounding the root lost.
  const Val twice = where(eq(w, Scalar(0.0)), math::number(w, 1.0), root + root);
  const Val lost = math::fma(-root, root, w) / twice;
  return {inner, near_zero, root, where(near_zero, excess, excess + lost)};
}

Val asin_of(const Val& x) {
  const HalfPi p = half_pi(x.dtype());
  const Val a = math::abs(x);
  const Arcsine s = arcsine(a, a);
  const Val small = s.inner + s.excess;
  // pi/4 twice, so that the greatest terms cancel without an error.
  const Val rest = (s.excess + s.excess) - math::number(a, p.low);
  const Val head = math::number(a, p.high / 2) - (s.root + s.root);
  const Val large = math::number(a, p.high / 2) - (rest - head);
  return math::odd(x, where(s.near_zero, small, large));
}

Val acos_of(const Val& x) {
  const HalfPi p = half_pi(x.dtype());
  const Arcsine s = arcsine(math::abs(x), x);
  const Val high = math::number(x, p.high), low = math::number(x, p.low);
  const Val middle = high - (s.inner - (low - s.excess));
  const Val right = (s.root + s.excess) * Scalar(2.0);
  // pi - right, as twice a difference from pi/2, whose low part counts.
  const Val left = (high - (s.root + (s.excess - low))) * Scalar(2.0);
  return where(s.near_zero, middle, where(lt(x, Scalar(0.0)), left, right));
}

// From here on the inverse functions are log(2x): what they differ by, 1 / 4x^2, rounds away. log x
// is log1p(x - 1), so that one logarithm serves both sides.
double large_limit(DType t) {
  return t == DType::f64 ? 0x1p28 : 0x1p13;
}
constexpr double kLogOf2 = 0.6931471805599453;

Val asinh_of(const Val& x) {
  const Val a = math::abs(x), square = a * a;
  const Val large = ge(a, Scalar(large_limit(x.dtype())));
  const Val usual = a + square / (Scalar(1.0) + math::sqrt(Scalar(1.0) + square));
  const Val y = math::log1p(where(large, a - Scalar(1.0), usual));
  return math::odd(x, where(large, y + Scalar(kLogOf2), y));
}

Val acosh_of(const Val& x) {
  const Val t = x - Scalar(1.0), large = ge(x, Scalar(large_limit(x.dtype())));
  const Val y = math::log1p(where(large, t, t + math::sqrt(t * (t + Scalar(2.0)))));
  const Val inside = where(large, y + Scalar(kLogOf2), y);
  return where(lt(x, Scalar(1.0)), math::number(x, math::kNan), inside);
}

using Function = Val (*)(const Val&);

// Halves are computed in f32 and rounded once.
Val computed(Function f, const Val& x) {
  return convert(f(opmath(x)), x.dtype());
}

}  // namespace

Val sinh::decompose(Tracer&, const Val& x) {
  return computed(math::sinh, x);
}
Val cosh::decompose(Tracer&, const Val& x) {
  return computed(math::cosh, x);
}
Val asin::decompose(Tracer&, const Val& x) {
  return computed(asin_of, x);
}
Val acos::decompose(Tracer&, const Val& x) {
  return computed(acos_of, x);
}
Val asinh::decompose(Tracer&, const Val& x) {
  return computed(asinh_of, x);
}
Val acosh::decompose(Tracer&, const Val& x) {
  return computed(acosh_of, x);
}

// The mantissa gets the exponent of 1/2, and the exponent's field tells the power.
std::tuple<Val, Val> frexp::decompose(Tracer& t, const Val& self) {
  const bool wide = self.dtype() == DType::f64;
  const Val x = opmath(self);
  const DType bits = wide ? DType::i64 : DType::i32;
  const int64_t shift = wide ? 52 : 23, bias = wide ? 1022 : 126;
  const auto as = [&](const Val& v, DType to) { return t.wrap(t.builder().bitcast(v.id(), to)); };
  // Numbers too small for a full mantissa are made larger first.
  const Val tiny = lt(math::abs(x), Scalar(wide ? 0x1p-1022 : 0x1p-126));
  const Val b = as(where(tiny, x * Scalar(0x1p60), x), bits);
  const int64_t field = wide ? 0x7ff : 0xff;
  const Val exponent =
      binary(Prim::bit_and, binary(Prim::shift_right, b, full_like(b, shift)), full_like(b, field));
  const Val power = exponent - full_like(exponent, bias);
  const Val scaled = where(tiny, power - full_like(power, 60), power);
  const Val kept = binary(Prim::bit_and, b, full_like(b, ~(field << shift)));
  const Val mantissa = as(binary(Prim::bit_or, kept, full_like(b, bias << shift)), x.dtype());
  const Val plain = eq(x, Scalar(0.0)) | ~math::is_finite(x);
  return {convert(where(plain, x, mantissa), self.dtype()),
          convert(where(plain, full_like(scaled, 0), scaled), DType::i32)};
}

}  // namespace primset::decomps::prim
