// Short names for what the decompositions of primitives are written with, over real values.
#ifndef PRIMSET_DECOMPS_PRIMITIVES_MATH_H_
#define PRIMSET_DECOMPS_PRIMITIVES_MATH_H_

#include <limits>

#include "decomps/engine/decomposition.h"

namespace primset::decomps::math {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

inline Val number(const Val& like, double v) {
  return full_like(like, Scalar(v));
}

inline Val abs(const Val& x) {
  return unary(Prim::abs, x);
}
inline Val sqrt(const Val& x) {
  return unary(Prim::sqrt, x);
}
inline Val exp(const Val& x) {
  return unary(Prim::exp, x);
}
inline Val expm1(const Val& x) {
  return unary(Prim::expm1, x);
}
inline Val log(const Val& x) {
  return unary(Prim::log, x);
}
inline Val log1p(const Val& x) {
  return unary(Prim::log1p, x);
}
inline Val sin(const Val& x) {
  return unary(Prim::sin, x);
}
inline Val cos(const Val& x) {
  return unary(Prim::cos, x);
}
inline Val tanh(const Val& x) {
  return unary(Prim::tanh, x);
}
inline Val min(const Val& x, const Val& y) {
  return binary(Prim::min, x, y);
}
inline Val max(const Val& x, const Val& y) {
  return binary(Prim::max, x, y);
}
inline Val pow(const Val& x, const Val& y) {
  return binary(Prim::pow, x, y);
}
inline Val atan2(const Val& y, const Val& x) {
  return binary(Prim::atan2, y, x);
}
inline Val fma(const Val& x, const Val& y, const Val& z) {
  return x.tracer().prim1(Prim::fma, {x, y, z});
}

// By an order that only NaN lacks: a number known up to an error equals itself no more surely than
// its neighbours, but is below infinity.
inline Val is_unordered(const Val& x) {
  return ~le(x, Scalar(kInfinity));
}
inline Val is_finite(const Val& x) {
  return lt(abs(x), Scalar(kInfinity));
}
inline Val is_infinite(const Val& x) {
  return eq(abs(x), Scalar(kInfinity));
}

// Whether the sign of x is set, be x a number, a zero or NaN.
Val sign_bit(const Val& x);
// The magnitude of x with the sign of y.
Val copysign(const Val& x, const Val& y);
// An odd function of x from its values at |x|; a zero gives itself.
Val odd(const Val& x, const Val& at_magnitude);

Val hypot(const Val& x, const Val& y);
Val sinh(const Val& x);
Val cosh(const Val& x);

// Beyond `limit` e^|x| may overflow; e^(|x| - shift), where shift is so close to a multiple of ln 2
// that the difference is exact and the quotient `half_scale`^2 * 2, does not (FreeBSD's k_exp.c).
struct ExpSplit {
  double limit, shift, half_scale;
};
ExpSplit exp_split(DType t);

}  // namespace primset::decomps::math

#endif  // PRIMSET_DECOMPS_PRIMITIVES_MATH_H_
