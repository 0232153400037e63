// Arithmetic between traced values. Operands broadcast as NumPy's and promote to ATen's common
// dtype. Integer `/` is the truncated quotient of the primitive. Comparisons give bool. Literals
// take the other operand's dtype.
#ifndef PRIMSET_DECOMPS_ENGINE_ARITHMETIC_H_
#define PRIMSET_DECOMPS_ENGINE_ARITHMETIC_H_

#include <type_traits>

#include "decomps/engine/tracer.h"

namespace primset::decomps {

Val operator+(const Val& a, const Val& b);
Val operator-(const Val& a, const Val& b);
Val operator*(const Val& a, const Val& b);
Val operator/(const Val& a, const Val& b);
Val operator-(const Val& a);
Val operator+(const Val& a, Scalar b);
Val operator-(const Val& a, Scalar b);
Val operator*(const Val& a, Scalar b);
Val operator/(const Val& a, Scalar b);
Val operator+(Scalar a, const Val& b);
Val operator-(Scalar a, const Val& b);
Val operator*(Scalar a, const Val& b);
Val operator/(Scalar a, const Val& b);
Val operator&(const Val& a, const Val& b);
Val operator|(const Val& a, const Val& b);
Val operator^(const Val& a, const Val& b);
Val operator~(const Val& a);
Val eq(const Val& a, const Val& b);
Val ne(const Val& a, const Val& b);
Val lt(const Val& a, const Val& b);
Val le(const Val& a, const Val& b);
Val gt(const Val& a, const Val& b);
Val ge(const Val& a, const Val& b);
Val eq(const Val& a, Scalar b);
Val ne(const Val& a, Scalar b);
Val lt(const Val& a, Scalar b);
Val le(const Val& a, Scalar b);
Val gt(const Val& a, Scalar b);
Val ge(const Val& a, Scalar b);
Val where(const Val& p, const Val& a, const Val& b);
// An elementwise primitive; for complex values on their pairs of reals, or by the complex_*
// primitive (complex.h).
Val unary(Prim p, const Val& x);
Val binary(Prim p, const Val& x, const Val& y);  // broadcasting and promoting as above
Val convert(const Val& x, DType to);
Val opmath(const Val& x);  // converted to the dtype that formulas compute in: f32 for half types
// Converted to opmath, but f32 and c64 to f64 and c128 where f64 is fast on the device: for
// functions that would lose too many digits (docs/decisions/wide_accumulation.md).
Val wide_opmath(const Val& x);
// a to the power b. For complex numbers the error of the logarithm is multiplied by the exponent,
// so they are widened as by wide_opmath.
Val power(const Val& a, const Val& b);
// x / by rounded down, of integers from 0 up to `limit`. It goes by f32 or f64 where that is exact:
// processors divide vectors of floats, but neither of integers nor, of 64 bits, by multiplying.
Val quotient(const Val& x, const SymInt& by, const SymInt& limit);
Val full_like(const Val& x, Scalar v);
Val full_like(const Val& x, const SymInt& v);
template <typename T>
  requires std::is_arithmetic_v<T>
Val full_like(const Val& x, T v) {
  return full_like(x, Scalar(v));
}
Val complex(const Val& re, const Val& im);
Val real(const Val& z);  // a real value itself
Val imag(const Val& z);  // zeros of a real value
Val conj(const Val& z);
Val logical(const Val& x);  // x != 0 as bool
Val is_nan(const Val& x);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ENGINE_ARITHMETIC_H_
