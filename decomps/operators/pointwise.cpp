// Pointwise operators that no formula states: those whose dtype, checks or branches depend on more
// than values.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "decomps/engine/engine.h"
#include "decomps/operators/comparison.h"
#include "decomps/operators/operator_support.h"
#include "decomps/operators/pointwise_binary.h"
#include "decomps/operators/pointwise_unary.h"
#include "decomps/primitives/complex_sum.h"
#include "sdk/base/float_bits.h"

namespace primset::decomps {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Integer division by zero is an error of the device.
void require_nonzero(const Val& divisor) {
  if (!is_exact(divisor.dtype())) return;
  check(ne(divisor, Scalar(0)), full_like(divisor, Scalar(0)), ErrorCode::runtime,
        "ZeroDivisionError: an integer divisor is 0; expected none, or floating-point arguments");
}

Val beside(const ScalarArg& s, const Val& x) {
  return x.tracer().scalar(s, x.dtype());
}

Val floor_quotient(const Val& a, const Val& b) {
  require_nonzero(b);
  return binary(Prim::floor_div, opmath(a), opmath(b));
}

Val truncated_quotient(const Val& a, const Val& b) {
  require_nonzero(b);
  const Val q = opmath(a) / opmath(b);
  if (is_exact(a.dtype())) return q;
  // ATen rounds the quotient of half-precision tensors first, though not by a single number.
  const bool number = known_equal(b.numel(), 1) == true;
  return unary(Prim::trunc, is_half(a.dtype()) && !number ? opmath(convert(q, a.dtype())) : q);
}

Val quotient_by_mode(const Val& a, const Val& b, const std::optional<std::string>& mode) {
  if (!mode) {
    const Val x = is_exact(a.dtype()) ? convert(a, DType::f32) : opmath(a);
    return x / (is_exact(b.dtype()) ? convert(b, DType::f32) : opmath(b));
  }
  if (*mode == "trunc") return truncated_quotient(a, b);
  require(*mode == "floor", ErrorCode::runtime,
          fmt::format("div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
                      "'{}'",
                      *mode));
  return floor_quotient(a, b);
}

// Half results of true division round once, whatever the mode's own result dtype is.
Val divided(const Val& a, const Val& b, const std::optional<std::string>& mode) {
  const Val q = quotient_by_mode(a, b, mode);
  return is_half(a.dtype()) ? convert(q, a.dtype()) : q;
}

double largest(DType t) {
  const FloatFormat& format = float_format(t);
  return float_from_bits(format.greatest(), format);
}

Val replaced(Tracer& t, const Val& x, const std::optional<ScalarArg>& nan,
             const std::optional<ScalarArg>& high, const std::optional<ScalarArg>& low) {
  const auto given = [&](const std::optional<ScalarArg>& s, double otherwise) {
    return s ? t.scalar(*s, x.dtype()) : t.constant(otherwise, x.dtype());
  };
  const double top = largest(x.dtype());
  const Val no_nan = where(is_nan(x), given(nan, 0.0), x);
  const Val no_high = where(eq(x, HUGE_VAL), given(high, top), no_nan);
  return where(eq(x, -HUGE_VAL), given(low, -top), no_high);
}

DType power_type(const Val& a) {
  return is_complex(a.dtype()) ? DType::c128 : DType::f64;
}

}  // namespace

Val angle::decompose(Tracer& t, const Val& self) {
  if (is_complex(self.dtype())) return binary(Prim::atan2, imag(self), real(self));
  const DType result = is_exact(self.dtype()) ? DType::f32 : self.dtype();
  const Val x = opmath(convert(self, result));
  const Val turned = where(lt(x, 0.0), full_like(x, std::numbers::pi), full_like(x, 0.0));
  return convert(where(is_nan(x), full_like(x, kNan), turned), result);
}

Val nan_to_num::decompose(Tracer& t, const Val& self, const std::optional<ScalarArg>& nan,
                          const std::optional<ScalarArg>& posinf,
                          const std::optional<ScalarArg>& neginf) {
  if (is_exact(self.dtype())) return self;
  if (!is_complex(self.dtype())) return replaced(t, self, nan, posinf, neginf);
  return complex(replaced(t, real(self), nan, posinf, neginf),
                 replaced(t, imag(self), nan, posinf, neginf));
}

// As pow(self, 2) has it, bool becomes i64.
Val heaviside::decompose(Tracer& t, const Val& self, const Val& values) {
  require(self.dtype() == values.dtype(), ErrorCode::runtime,
          "heaviside is not yet implemented for tensors with different dtypes.");
  const Val step = convert(gt(self, Scalar(0)), self.dtype());
  return where(eq(self, Scalar(0)), values, step);
}

Val square::decompose(Tracer& t, const Val& self) {
  const Val x = is_bool(self.dtype()) ? convert(self, DType::i64) : opmath(self);
  return is_bool(self.dtype()) ? x * x : convert(x * x, self.dtype());
}

Val div_mode::decompose(Tracer& t, const Val& self, const Val& other,
                        const std::optional<std::string>& rounding_mode) {
  if (!is_bool(self.dtype())) return divided(self, other, rounding_mode);
  if (rounding_mode == "floor" || rounding_mode == "trunc")
    not_implemented_for("div_" + *rounding_mode + "_cpu", DType::boolean);
  return divided(convert(self, DType::f32), convert(other, DType::f32), rounding_mode);
}

Val div_scalar_mode::decompose(Tracer& t, const Val& self, const ScalarArg& other,
                               const std::optional<std::string>& rounding_mode) {
  // True division is done among floats: a number is not first made one of self's integers.
  const Val x = !rounding_mode && is_exact(self.dtype()) ? convert(self, DType::f32) : self;
  const bool half = is_half(x.dtype());
  return divided(x, half ? t.scalar(other, opmath_type(x.dtype())) : beside(other, x),
                 rounding_mode);
}

namespace {

// ATen makes a tensor of the number, which must fit; but one of halves or float8 rounds it.
Val number_beside(Tracer& t, const ScalarArg& s, DType type) {
  return is_half(type) || is_float8(type) ? t.scalar(s, type) : t.fitting_scalar(s, type);
}

}  // namespace

Val where_scalar_self::decompose(Tracer& t, const Val& condition, const ScalarArg& self,
                                 const Val& other) {
  return where(logical(condition), number_beside(t, self, other.dtype()), other);
}

Val where_scalar_other::decompose(Tracer& t, const Val& condition, const Val& self,
                                  const ScalarArg& other) {
  return where(logical(condition), self, number_beside(t, other, self.dtype()));
}

Val floor_divide::decompose(Tracer& t, const Val& self, const Val& other) {
  return floor_quotient(self, other);
}

Val floor_divide_scalar::decompose(Tracer& t, const Val& self, const ScalarArg& other) {
  return floor_quotient(self, t.scalar(other, opmath_type(self.dtype())));
}

// Of halves by the primitive of halves, not by that of f32 as a formula would: it wants fewer
// digits.
Val log::decompose(Tracer&, const Val& self) {
  return unary(Prim::log, self);
}
Val log2::decompose(Tracer&, const Val& self) {
  return unary(Prim::log2, self);
}
Val log10::decompose(Tracer&, const Val& self) {
  return unary(Prim::log10, self);
}

Val fmod::decompose(Tracer& t, const Val& self, const Val& other) {
  require_nonzero(other);
  return binary(Prim::rem, opmath(self), opmath(other));
}

Val fmod_scalar::decompose(Tracer& t, const Val& self, const ScalarArg& other) {
  return fmod::decompose(t, self, beside(other, self));
}

Val remainder::decompose(Tracer& t, const Val& self, const Val& other) {
  require_nonzero(other);
  return binary(Prim::remainder, opmath(self), opmath(other));
}

Val remainder_scalar::decompose(Tracer& t, const Val& self, const ScalarArg& other) {
  return remainder::decompose(t, self, beside(other, self));
}

Val scalar_remainder::decompose(Tracer& t, const ScalarArg& self, const Val& other) {
  return remainder::decompose(t, beside(self, other), other);
}

// As ATen's kernel has it, of complex tensors 0 to the power of 0 is no number.
Val power_of(const Val& a, const Val& b) {
  const Val y = power(a, b);
  if (!is_complex(y.dtype())) return y;
  const Val both = eq(convert(a, y.dtype()), Scalar(0.0)) & eq(convert(b, y.dtype()), Scalar(0.0));
  const Val nan = full_like(real(y), std::numeric_limits<double>::quiet_NaN());
  return where(both, complex(nan, nan), y);
}

Val pow::decompose(Tracer& t, const Val& self, const Val& exponent) {
  return power_of(opmath(self), opmath(exponent));
}

Val pow_scalar::decompose(Tracer& t, const Val& self, const ScalarArg& exponent) {
  const Val e = beside(exponent, self);
  // The number itself, which an unsigned dtype would wrap around.
  const Val given = exponent.value;
  if (is_exact(self.dtype()))
    check(ge(given, Scalar(0)), given, ErrorCode::runtime,

          "Integers to negative integer powers are not allowed. Found exponent {value}; expected "
          "at least 0, or a floating-point self");
  return power(opmath(self), opmath(e));
}

Val float_power::decompose(Tracer& t, const Val& self, const Val& exponent) {
  const DType type = promote_types(power_type(self), power_type(exponent));
  return power_of(convert(self, type), convert(exponent, type));
}

Val float_power_scalar::decompose(Tracer& t, const Val& self, const ScalarArg& exponent) {
  const DType type = promote_types(power_type(self), power_type(exponent.value));
  return binary(Prim::pow, convert(self, type), convert(exponent.value, type));
}

Val scalar_float_power::decompose(Tracer& t, const ScalarArg& self, const Val& exponent) {
  return float_power::decompose(t, self.value, exponent);
}

// Where a complex sum cancels, what it was rounded to before shows: as in ATen, c128 where that is
// fast.
Val logaddexp::decompose(Tracer& t, const Val& self, const Val& other) {
  if (!is_complex(self.dtype())) return t.prim1(Prim::log_add_exp, {self, other});
  // Of two equally great numbers the second gives the angle to go on from; in ATen it is self.
  const math::Parts log =
      prim::logarithm_of_sum(math::parts(wide_opmath(other)), math::parts(wide_opmath(self)));
  return convert(math::joined(log), self.dtype());
}

// By an integer exponent floating values are scaled; another one is an operator's power, whose
// dtype is the common one.
Val ldexp::decompose(Tracer& t, const Val& self, const Val& other) {
  if (is_floating(self.dtype()) && is_bool(other.dtype()))
    not_implemented_for("ldexp_cpu_exp", other.dtype());
  if (is_floating(self.dtype()) && is_integral(other.dtype()))
    return t.prim1(Prim::ldexp,
                   {self, convert(other, bits(other.dtype()) < 32 ? DType::i32 : DType::i64)});
  const bool own = is_exact(other.dtype()) && !is_exact(self.dtype());
  const Val exponent = own ? convert(other, self.dtype()) : other;
  return t.call1("mul.Tensor", {self, t.call1("pow.Scalar", {t.literal(2.0), exponent})});
}

namespace {

// |a - b| of integers, exactly: the difference of two i64 is a u64, and that of two i32 a u32.
Val exact_distance(const Val& a, const Val& b) {
  const bool wide = bits(a.dtype()) == 64;
  const DType type = is_unsigned_integer(a.dtype()) ? (wide ? DType::u64 : DType::u32)
                                                    : (wide ? DType::i64 : DType::i32);
  const Val x = convert(a, type), y = convert(b, type);
  const Val apart = where(lt(x, y), y - x, x - y);
  Tracer& t = a.tracer();
  const DType distance = wide ? DType::u64 : DType::u32;
  return convert(t.wrap(t.builder().bitcast(apart.id(), distance)), DType::f64);
}

}  // namespace

Val isclose::decompose(Tracer& t, const Val& self, const Val& other, const ScalarArg& rtol,
                       const ScalarArg& atol, bool equal_nan) {
  require(self.dtype() == other.dtype(), ErrorCode::runtime,
          fmt::format("{} did not match {}", aten_name(self.dtype()), aten_name(other.dtype())));
  const auto require_positive = [](const ScalarArg& s, const char* name) {
    if (s.constant)
      require(!(s.constant->to_double() < 0), ErrorCode::runtime,
              fmt::format("{} must be greater than or equal to zero, but got {}", name,
                          s.constant->to_double()));
    else
      check(ge(s.value, Scalar(0)), s.value, ErrorCode::runtime,
            fmt::format("{} must be greater than or equal to zero, but got {{value}}", name));
  };
  require_positive(rtol, "rtol");
  require_positive(atol, "atol");
  Val close = eq(self, other);
  if (equal_nan && !is_exact(self.dtype())) close = close | (is_nan(self) & is_nan(other));
  const DType type = is_exact(self.dtype()) ? DType::f64 : opmath_type(self.dtype());
  const Val a = convert(self, type), b = convert(other, type);
  const DType real = real_type(type);
  const Val allowed = t.scalar(atol, real) + unary(Prim::abs, b * t.scalar(rtol, type));
  const Val error = is_exact(self.dtype()) ? exact_distance(self, other) : unary(Prim::abs, a - b);
  return close | (lt(error, HUGE_VAL) & le(error, allowed));
}

}  // namespace primset::decomps
