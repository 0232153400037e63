// Building blocks of the math library: arithmetic in one floating type on a builder, error-free
// transformations, polynomials, manipulation of exponents. Internal to this folder.
//
// Functions are written once for a working type T. For f64 results T is f64; for f32 results it is
// f32, or f64 where an algorithm leans on a fused fma that the target lacks (working_type()); then
// `single` says that f32 accuracy will do, and which tables to use.
#ifndef PRIMSET_CODEGEN_KERNEL_MATH_ARITH_H_
#define PRIMSET_CODEGEN_KERNEL_MATH_ARITH_H_

#include <span>

#include "codegen/kernel/ir/builder.h"

namespace primset::kir::math {

// An unevaluated sum, |lo| at most half a unit in the last place of hi.
struct Pair {
  Value hi, lo;
};

class Arith {
 public:
  // single: the caller wants an f32 result, though type may be f64.
  Arith(Builder& builder, Type type, bool single);

  Builder& b;
  const Type type;
  const bool single;
  const bool fused;

  bool wide() const { return type.scalar == Scalar::f64; }
  int mantissa_bits() const { return wide() ? 52 : 23; }  // stored ones
  int bias() const { return wide() ? 1023 : 127; }
  Scalar int_scalar() const { return wide() ? Scalar::i64 : Scalar::i32; }
  Type int_type() const { return type.with_scalar(int_scalar()); }

  Value c(double v) const { return b.constant_f(type, v); }
  Value i(int64_t v) const { return b.constant(int_type(), v); }
  Value infinity() const;
  Value nan() const;
  Value bits(Value x) const { return b.bitcast(x, int_scalar()); }
  Value from_bits(Value x) const { return b.bitcast(x, type.scalar); }
  // The constant's bit pattern as an integer.
  int64_t bits_of(double v) const;

  // x*y + z and z - x*y, rounded once where that is cheap, else twice: for places where either will
  // do.
  Value mad(Value x, Value y, Value z) const;
  Value nmad(Value x, Value y, Value z) const;
  // table[0] + table[1]*x + ..., Horner's scheme.
  Value poly(Value x, std::span<const double> table) const;

  // Exact: hi + lo is the sum. fast_two_sum wants |x| >= |y| or x == 0. Knuth; Dekker 1971.
  Pair two_sum(Value x, Value y) const;
  Pair fast_two_sum(Value x, Value y) const;
  // Exact: hi + lo is the product, unless it over- or underflows; without a fused fma |x| and |y|
  // stay below 2^(max exponent - p/2 - 1) too (Dekker's splitting, after Veltkamp).
  Pair two_prod(Value x, Value y) const;

  Value is_nan(Value x) const { return b.fne(x, x); }
  // The lesser and greater of x and a bound; NaN stays NaN.
  Value at_most(Value x, double bound) const;
  Value at_least(Value x, double bound) const;
  // The magnitude (not negative) with the sign of s.
  Value with_sign(Value magnitude, Value s) const;
  Value sign_bit(Value x) const;  // of an x as bits, all else zero

  // Positive, and neither small nor great: 1/far <= x < far, where far's square is still a number.
  Value in_middle(Value x) const;

  // Has f32 an instruction for a reciprocal, good to a few units?
  bool has_quick_reciprocal() const { return !wide() && fused && b.target().fast_exp2; }
  // Quotient within 0.51 ULP, of operands and a result in the middle of the range.
  Value div(Value x, Value y) const;

  // The integer nearest to x, |x| < 2^(mantissa_bits - 2), as a float and (times 1, plus add) as an
  // integer.
  struct Rounded {
    Value f, n;
  };
  Rounded round(Value x, int64_t add) const { return round_scaled(x, c(1.0), add); }
  // That of x*scale.
  Rounded round_scaled(Value x, Value scale, int64_t add) const;

  // 2^n for bias + n in 1..2*bias, from bias + n.
  Value pow2_biased(Value biased) const { return from_bits(b.shl(biased, i(mantissa_bits()))); }
  // x * 2^n rounded once, for n from -2*bias to 2*bias and 0.5 <= |x| < 4, from n + 2*bias.
  Value scale_twice_biased(Value x, Value n) const;

  Value int_to_float(Value n) const;  // |n| < 2^(mantissa_bits - 1)

 private:
  Value split_high(Value x) const;
};

// The type to work in for an argument of type t.
enum class Widen : uint8_t {
  never,
  unless_fused,  // f32 in f64 where fma is not fused and f64 exists
};
Type working_type(const Builder& b, Type t, Widen widen);

// Runs f(Arith, x...) in the working type and rounds the result back.
template <class F, class... X>
Value in_working_type(Builder& b, Widen widen, F&& f, X... x) {
  const Type types[] = {b.type(x)...};
  const Type t = types[0], w = working_type(b, t, widen);
  Arith a(b, w, t.scalar == Scalar::f32);
  return b.fptrunc(f(a, b.fpext(x, w.scalar)...), t.scalar);
}

// fixed() where any lane of the mask is set, else the value itself: the masked slow path.
template <class F>
Value fix_rare(Builder& b, Value mask, Value value, F&& fixed) {
  return b.if_else(
      b.any(mask), [&] { return Builder::Values{b.select(mask, fixed(), value)}; },
      [&] { return Builder::Values{value}; })[0];
}

}  // namespace primset::kir::math

#endif  // PRIMSET_CODEGEN_KERNEL_MATH_ARITH_H_
