#include "decomps/primitives/math.h"

namespace primset::decomps::math {
namespace {

DType signed_bits(DType t) {
  return bits(t) == 64 ? DType::i64 : bits(t) == 32 ? DType::i32 : DType::i16;
}

}  // namespace

// The bits decide only where a comparison cannot: what is known of a value up to an error has a
// sign, but no bits.
Val sign_bit(const Val& x) {
  Tracer& t = x.tracer();
  const Val pattern = t.wrap(t.builder().bitcast(x.id(), signed_bits(x.dtype())));
  const Val unordered = eq(x, Scalar(0.0)) | is_unordered(x);
  return where(unordered, lt(pattern, Scalar(0)), lt(x, Scalar(0.0)));
}

Val copysign(const Val& x, const Val& y) {
  const Val magnitude = abs(x);
  return where(sign_bit(y), -magnitude, magnitude);
}

Val odd(const Val& x, const Val& at_magnitude) {
  const Val nonzero = where(lt(x, Scalar(0.0)), -at_magnitude, at_magnitude);
  return where(eq(x, Scalar(0.0)), x, nonzero);
}

// m sqrt(1 + (n/m)^2) with the greater magnitude m: nothing overflows but the result, and the
// square underflows only where it adds nothing. About 2 ulp.
Val hypot(const Val& x, const Val& y) {
  const Val a = abs(x), b = abs(y), m = max(a, b);
  const Val ratio = min(a, b) / where(eq(m, Scalar(0.0)), number(m, 1.0), m);
  const Val r = m * sqrt(Scalar(1.0) + ratio * ratio);
  return where(is_infinite(x) | is_infinite(y), number(m, kInfinity), r);
}

ExpSplit exp_split(DType t) {
  if (t == DType::f64) return {709.0, 0x1.62066151add8bp+10, 0x1p1021};
  return {88.0, 0x1.45c778p+7, 0x1p117};
}

namespace {

// e^a / 2 for an a beyond the limit; of another one something that is no denormal, which many
// processors take long for.
Val half_exp(const Val& a) {
  const ExpSplit s = exp_split(a.dtype());
  const Val rest = math::max(a, number(a, s.limit)) - Scalar(s.shift);
  return exp(rest) * Scalar(s.half_scale) * Scalar(s.half_scale);
}

}  // namespace

// With t = e^a - 1: sinh a = (t + t / (t + 1)) / 2, which keeps the precision of t near 0.
Val sinh(const Val& x) {
  const Val a = abs(x), t = expm1(a);
  const Val usual = (t + t / (t + Scalar(1.0))) * Scalar(0.5);
  return odd(x, where(lt(a, Scalar(exp_split(x.dtype()).limit)), usual, half_exp(a)));
}

// One exponential serves for both.
Val cosh(const Val& x) {
  const ExpSplit s = exp_split(x.dtype());
  const Val a = abs(x), large = ge(a, Scalar(s.limit));
  const Val e = exp(where(large, a - Scalar(s.shift), a));
  return where(large, e * Scalar(s.half_scale) * Scalar(s.half_scale),
               (e + Scalar(1.0) / e) * Scalar(0.5));
}

}  // namespace primset::decomps::math
