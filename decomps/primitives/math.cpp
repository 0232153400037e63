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

// |x| where e^|x| does not overflow, and else what is left when half the largest power that does
// not is taken out, so that one exponential serves for both.
struct Magnitude {
  Val large;     // is something taken out?
  Val exponent;  // |x| or the rest
  ExpSplit split;

  // e^|x| / 2 of a large one, by e to the exponent.
  Val half_power(const Val& e) const {
    return e * Scalar(split.half_scale) * Scalar(split.half_scale);
  }
};

Magnitude magnitude(const Val& x) {
  const ExpSplit split = exp_split(x.dtype());
  const Val a = abs(x), large = ge(a, Scalar(split.limit));
  return {large, where(large, a - Scalar(split.shift), a), split};
}

}  // namespace

// With t = e^a - 1: sinh a = (t + t / (t + 1)) / 2, which keeps the precision of t near 0.
Val sinh(const Val& x) {
  const Magnitude m = magnitude(x);
  const Val t = expm1(m.exponent), e = t + Scalar(1.0);
  return odd(x, where(m.large, m.half_power(e), (t + t / e) * Scalar(0.5)));
}

Val cosh(const Val& x) {
  const Magnitude m = magnitude(x);
  const Val e = exp(m.exponent);
  return where(m.large, m.half_power(e), (e + Scalar(1.0) / e) * Scalar(0.5));
}

}  // namespace primset::decomps::math
