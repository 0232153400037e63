// Tangents, hyperbolic and inverse functions of complex numbers, by formulas over other functions.
// Special values are those of C99, annex G.
#include <numbers>

#include "decomps/primitives/complex.h"
#include "decomps/primitives/math.h"

namespace primset::decomps::prim {
namespace {

using math::copysign;
using math::is_infinite;

constexpr double kLn2 = std::numbers::ln2;

// i * z
Val times_i(const Val& z) {
  return complex(-imag(z), real(z));
}
// -i * z
Val times_minus_i(const Val& z) {
  return complex(imag(z), -real(z));
}

// An odd function's part on an axis: a zero x stays itself beside a y that is NaN.
Val zero_beside_nan(const Val& x, const Val& y, const Val& otherwise) {
  return where(eq(x, Scalar(0.0)) & math::is_unordered(y), x, otherwise);
}

// 1 is real: beside it a zero keeps its sign, which says on which side of a cut z lies.
Val one_plus(const Val& z) {
  return complex(real(z) + Scalar(1.0), imag(z));
}
Val one_minus(const Val& z) {
  return complex(Scalar(1.0) - real(z), -imag(z));
}

// Where what is added to z or to its square is lost in rounding.
Val is_far(const Val& z) {
  const Scalar horizon(z.dtype() == DType::c128 ? 1e17 : 1e9);
  return gt(unary(Prim::abs, real(z)), horizon) | gt(unary(Prim::abs, imag(z)), horizon);
}

// Kahan's formula, which keeps small parts beside large ones; the real part by its size, since
// log1p loses what is next to -1.
Val complex_atanh_of(const Val& z) {
  const Val x = real(z), y = imag(z), size = unary(Prim::abs, x);
  const Val left = full_like(x, Scalar(1.0)) - size, distance = left * left + y * y;
  const Val usual = unary(Prim::log1p, size / distance * Scalar(4.0)) * Scalar(0.25);
  // Next to the pole the square of the distance underflows.
  const Val away = unary(Prim::complex_abs, complex(left, y));
  const Val close = (full_like(x, Scalar(kLn2)) - unary(Prim::log, away)) * Scalar(0.5);
  const Val grown = where(lt(away, Scalar(1e-12)), close, usual);
  const Val angle =
      binary(Prim::atan2, y * Scalar(2.0), left * (size + Scalar(1.0)) - y * y) * Scalar(0.5);
  // Far away, where squares overflow, it is 1 / z and a right angle to the last bit.
  const Val whole = unary(Prim::complex_abs, z), infinite = is_infinite(x) | is_infinite(y);
  const Val far = infinite | (is_far(z) & eq(x, x));
  const Val left_over = where(infinite, full_like(x, Scalar(0.0)), size / whole / whole);
  const Val right_angle =
      where(eq(y, y), copysign(full_like(y, Scalar(std::numbers::pi / 2)), y), y);
  return complex(zero_beside_nan(x, y, copysign(where(far, left_over, grown), x)),
                 where(far, right_angle, angle));
}

// Far away all of them are the logarithm of 2z, turned.
Val far_height(const Val& z) {
  return real(unary(Prim::complex_log, z)) + Scalar(kLn2);
}

// Kahan's formulas for asin and acos, with the cuts where C99 has them.
Val complex_asin_of(const Val& z) {
  const Val a = unary(Prim::complex_sqrt, one_minus(z)), b = unary(Prim::complex_sqrt, one_plus(z));
  const Val near =
      complex(binary(Prim::atan2, real(z), real(a * b)), unary(Prim::asinh, imag(conj(a) * b)));
  const Val far = complex(binary(Prim::atan2, real(z), unary(Prim::abs, imag(z))),
                          copysign(far_height(z), imag(z)));
  const Val w = where(is_far(z), far, near);
  return complex(zero_beside_nan(real(z), imag(z), real(w)), imag(w));
}
Val complex_acos_of(const Val& z) {
  const Val a = unary(Prim::complex_sqrt, one_minus(z)), b = unary(Prim::complex_sqrt, one_plus(z));
  const Val near = complex(binary(Prim::atan2, real(a), real(b)) * Scalar(2.0),
                           unary(Prim::asinh, imag(conj(b) * a)));
  const Val far = complex(binary(Prim::atan2, unary(Prim::abs, imag(z)), real(z)),
                          -copysign(far_height(z), imag(z)));
  const Val w = where(is_far(z), far, near), x = real(z);
  const Val right_angle = full_like(x, Scalar(std::numbers::pi / 2));
  return complex(where(eq(x, Scalar(0.0)) & math::is_unordered(imag(z)), right_angle, real(w)),
                 imag(w));
}

// sqrt(z - 1) and sqrt(z + 1) give the cut below 1.
Val complex_acosh_of(const Val& z) {
  const Val a = unary(Prim::complex_sqrt, -one_minus(z)),
            b = unary(Prim::complex_sqrt, one_plus(z));
  const Val near = complex(unary(Prim::asinh, real(conj(a) * b)),
                           binary(Prim::atan2, imag(a), real(b)) * Scalar(2.0));
  const Val far = complex(far_height(z), binary(Prim::atan2, imag(z), real(z)));
  return where(is_far(z), far, near);
}

// Near 0 the logarithm of |1 + z|^2 as 1 and what is beside it.
Val complex_log1p_of(const Val& z) {
  const Val x = real(z), y = imag(z), whole = unary(Prim::complex_log, one_plus(z));
  const Val beside = x * (x + Scalar(2.0)) + y * y;
  const Val near = lt(unary(Prim::complex_abs, z), Scalar(0.5));
  const Val part = where(eq(beside, Scalar(0.0)), x, unary(Prim::log1p, beside) * Scalar(0.5));
  return complex(where(near, part, real(whole)), imag(whole));
}

}  // namespace

Val complex_sinh::decompose(Tracer&, const Val& z) {
  return times_minus_i(unary(Prim::complex_sin, times_i(z)));
}
Val complex_cosh::decompose(Tracer&, const Val& z) {
  return unary(Prim::complex_cos, times_i(z));
}
Val complex_tan::decompose(Tracer&, const Val& z) {
  return times_minus_i(unary(Prim::complex_tanh, times_i(z)));
}
Val complex_log1p::decompose(Tracer&, const Val& z) {
  return complex_log1p_of(z);
}

Val complex_asin::decompose(Tracer&, const Val& z) {
  return complex_asin_of(z);
}
Val complex_asinh::decompose(Tracer&, const Val& z) {
  return times_minus_i(complex_asin_of(times_i(z)));
}
Val complex_acos::decompose(Tracer&, const Val& z) {
  return complex_acos_of(z);
}
Val complex_acosh::decompose(Tracer&, const Val& z) {
  return complex_acosh_of(z);
}
Val complex_atanh::decompose(Tracer&, const Val& z) {
  return complex_atanh_of(z);
}
Val complex_atan::decompose(Tracer&, const Val& z) {
  return times_minus_i(complex_atanh_of(times_i(z)));
}

}  // namespace primset::decomps::prim
