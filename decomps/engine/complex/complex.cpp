#include "decomps/engine/complex/complex.h"

#include <fmt/format.h>

#include <numbers>
#include <utility>

#include "decomps/engine/decomposition.h"
#include "decomps/primitives/math.h"

namespace primset::decomps {
namespace {

using math::copysign;
using math::is_infinite;

constexpr double kLn2 = std::numbers::ln2;

Val map_parts(Prim p, const Val& z) {
  return complex(unary(p, real(z)), unary(p, imag(z)));
}

// i * z
Val turned(const Val& z) {
  return complex(-imag(z), real(z));
}
// -i * z
Val turned_back(const Val& z) {
  return complex(imag(z), -real(z));
}

Val sinh_of(const Val& z) {
  return turned_back(unary(Prim::complex_sin, turned(z)));
}
Val cosh_of(const Val& z) {
  return unary(Prim::complex_cos, turned(z));
}
Val tan_of(const Val& z) {
  return turned_back(unary(Prim::complex_tanh, turned(z)));
}

Val reciprocal_of(const Val& z) {
  return full_like(z, Scalar(1.0)) / z;
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
Val atanh_of(const Val& z) {
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
  return complex(copysign(where(far, left_over, grown), x), where(far, right_angle, angle));
}
Val atan_of(const Val& z) {
  return turned_back(atanh_of(turned(z)));
}

// Far away all of them are the logarithm of 2z, turned.
Val far_height(const Val& z) {
  return real(unary(Prim::complex_log, z)) + Scalar(kLn2);
}

// Kahan's formulas for asin and acos, with the cuts where C99 has them.
Val asin_of(const Val& z) {
  const Val a = unary(Prim::complex_sqrt, one_minus(z)), b = unary(Prim::complex_sqrt, one_plus(z));
  const Val near =
      complex(binary(Prim::atan2, real(z), real(a * b)), unary(Prim::asinh, imag(conj(a) * b)));
  const Val far = complex(binary(Prim::atan2, real(z), unary(Prim::abs, imag(z))),
                          copysign(far_height(z), imag(z)));
  return where(is_far(z), far, near);
}
Val acos_of(const Val& z) {
  const Val a = unary(Prim::complex_sqrt, one_minus(z)), b = unary(Prim::complex_sqrt, one_plus(z));
  const Val near = complex(binary(Prim::atan2, real(a), real(b)) * Scalar(2.0),
                           unary(Prim::asinh, imag(conj(b) * a)));
  const Val far = complex(binary(Prim::atan2, unary(Prim::abs, imag(z)), real(z)),
                          -copysign(far_height(z), imag(z)));
  return where(is_far(z), far, near);
}
Val asinh_of(const Val& z) {
  return turned_back(asin_of(turned(z)));
}

// sqrt(z - 1) and sqrt(z + 1) give the cut below 1.
Val acosh_of(const Val& z) {
  const Val a = unary(Prim::complex_sqrt, -one_minus(z)),
            b = unary(Prim::complex_sqrt, one_plus(z));
  const Val near = complex(unary(Prim::asinh, real(conj(a) * b)),
                           binary(Prim::atan2, imag(a), real(b)) * Scalar(2.0));
  const Val far = complex(far_height(z), binary(Prim::atan2, imag(z), real(z)));
  return where(is_far(z), far, near);
}

Val sign_of(const Val& z) {
  const Val r = unary(Prim::complex_abs, z);
  const Val zero = eq(r, Scalar(0.0));
  const Val safe = where(zero, full_like(r, Scalar(1.0)), r);
  return complex(real(z) / safe, imag(z) / safe);
}

Val scaled_log(const Val& z, double inverse_of_log_base) {
  const Val l = unary(Prim::complex_log, z);
  return complex(real(l) * Scalar(inverse_of_log_base), imag(l) * Scalar(inverse_of_log_base));
}

Val expm1_of(const Val& z) {
  const Val x = real(z), y = imag(z);
  const Val half_sine = unary(Prim::sin, y * Scalar(0.5));
  const Val cos_less_one = half_sine * half_sine * Scalar(-2.0);
  const Val grown = unary(Prim::expm1, x);
  return complex(grown * unary(Prim::cos, y) + cos_less_one,
                 unary(Prim::exp, x) * unary(Prim::sin, y));
}

// Near 0 the logarithm of |1 + z|^2 as 1 and what is beside it.
Val log1p_of(const Val& z) {
  const Val x = real(z), y = imag(z), whole = unary(Prim::complex_log, one_plus(z));
  const Val beside = x * (x + Scalar(2.0)) + y * y;
  const Val near = lt(unary(Prim::complex_abs, z), Scalar(0.5));
  const Val part = where(eq(beside, Scalar(0.0)), x, unary(Prim::log1p, beside) * Scalar(0.5));
  return complex(where(near, part, real(whole)), imag(whole));
}

Val log2_of(const Val& z) {
  return scaled_log(z, 1.4426950408889634);
}
Val log10_of(const Val& z) {
  return scaled_log(z, 0.4342944819032518);
}
Val exp2_of(const Val& z) {
  const Scalar log_2(0.6931471805599453);
  return unary(Prim::complex_exp, complex(real(z) * log_2, imag(z) * log_2));
}
Val rsqrt_of(const Val& z) {
  return reciprocal_of(unary(Prim::complex_sqrt, z));
}
Val sigmoid_of(const Val& z) {
  return reciprocal_of(full_like(z, Scalar(1.0)) + unary(Prim::complex_exp, -z));
}
Val silu_of(const Val& z) {
  return z * unary(Prim::sigmoid, z);
}
Val neg_of(const Val& z) {
  return map_parts(Prim::neg, z);
}

// Elementwise primitives that a complex_* primitive stands for.
constexpr std::pair<Prim, Prim> kCounterparts[] = {
    {Prim::abs, Prim::complex_abs},  {Prim::cos, Prim::complex_cos},
    {Prim::exp, Prim::complex_exp},  {Prim::log, Prim::complex_log},
    {Prim::sin, Prim::complex_sin},  {Prim::sqrt, Prim::complex_sqrt},
    {Prim::tanh, Prim::complex_tanh}};

// And those that a formula does.
using Formula = Val (*)(const Val& z);
constexpr std::pair<Prim, Formula> kFormulas[] = {
    {Prim::acos, &acos_of},   {Prim::acosh, &acosh_of},
    {Prim::asin, &asin_of},   {Prim::asinh, &asinh_of},
    {Prim::atan, &atan_of},   {Prim::atanh, &atanh_of},
    {Prim::cosh, &cosh_of},   {Prim::exp2, &exp2_of},
    {Prim::expm1, &expm1_of}, {Prim::log10, &log10_of},
    {Prim::log1p, &log1p_of}, {Prim::log2, &log2_of},
    {Prim::neg, &neg_of},     {Prim::reciprocal, &reciprocal_of},
    {Prim::rsqrt, &rsqrt_of}, {Prim::sigmoid, &sigmoid_of},
    {Prim::sign, &sign_of},   {Prim::silu, &silu_of},
    {Prim::sinh, &sinh_of},   {Prim::tan, &tan_of}};

[[noreturn]] void missing(Prim p, const Val& z) {
  fail(ErrorCode::not_implemented,
       fmt::format("\"{}\" not implemented for '{}'", prims::info(p).name,
                   z.dtype() == DType::c128 ? "ComplexDouble" : "ComplexFloat"));
}

}  // namespace

Val complex_unary(Prim p, const Val& z) {
  Tracer& t = z.tracer();
  for (const auto& [real_prim, complex_prim] : kCounterparts) {
    if (p == real_prim || p == complex_prim) return t.prim1(complex_prim, {z});
  }
  for (const auto& [prim, formula] : kFormulas) {
    if (p == prim) return formula(z);
  }
  missing(p, z);
}

Val complex_binary(Prim p, const Val& a, const Val& b) {
  Tracer& t = a.tracer();
  switch (p) {
    case Prim::add:
    case Prim::sub:
      return complex(binary(p, real(a), real(b)), binary(p, imag(a), imag(b)));
    case Prim::mul:
    case Prim::complex_mul:
      return t.prim1(Prim::complex_mul, {a, b});
    case Prim::div:
    case Prim::complex_div:
      return t.prim1(Prim::complex_div, {a, b});
    case Prim::pow:
    case Prim::complex_pow:
      return t.prim1(Prim::complex_pow, {a, b});
    case Prim::eq:
      return eq(real(a), real(b)) & eq(imag(a), imag(b));
    default:
      missing(p, a);
  }
}

Val complex_reduce(Prim p, const Val& z, const std::vector<int64_t>& dims) {
  if (dims.empty()) return z;
  Tracer& t = z.tracer();
  const Val re = real(z), im = imag(z);
  if (p == Prim::reduce_sum)
    return complex(t.prim1(p, {re}, {{"dims", dims}}), t.prim1(p, {im}, {{"dims", dims}}));
  require(p == Prim::reduce_prod, ErrorCode::not_implemented,
          fmt::format("\"{}\" not implemented for complex values", prims::info(p).name));
  const DType part = re.dtype();
  prims::Region multiply = t.scalar_region({part, part, part, part}, [](const std::vector<Val>& v) {
    return std::vector<Val>{v[0] * v[2] - v[1] * v[3], v[0] * v[3] + v[1] * v[2]};
  });
  std::vector<prims::Region> regions;
  regions.push_back(std::move(multiply));
  const auto parts =
      t.prim(Prim::reduce, {re, im, t.constant(Scalar(1.0), part), t.constant(Scalar(0.0), part)},
             {{"dims", dims}}, std::move(regions));
  return complex(parts[0], parts[1]);
}

}  // namespace primset::decomps
