#include "decomps/engine/complex/complex.h"

#include <fmt/format.h>

#include <utility>

#include "decomps/engine/decomposition.h"

namespace primset::decomps {
namespace {

Val map_parts(Prim p, const Val& z) {
  return complex(unary(p, real(z)), unary(p, imag(z)));
}

Val reciprocal_of(const Val& z) {
  return full_like(z, Scalar(1.0)) / z;
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
    {Prim::abs, Prim::complex_abs},     {Prim::acos, Prim::complex_acos},
    {Prim::acosh, Prim::complex_acosh}, {Prim::asin, Prim::complex_asin},
    {Prim::asinh, Prim::complex_asinh}, {Prim::atan, Prim::complex_atan},
    {Prim::atanh, Prim::complex_atanh}, {Prim::cos, Prim::complex_cos},
    {Prim::cosh, Prim::complex_cosh},   {Prim::exp, Prim::complex_exp},
    {Prim::log, Prim::complex_log},     {Prim::log1p, Prim::complex_log1p},
    {Prim::sin, Prim::complex_sin},     {Prim::sinh, Prim::complex_sinh},
    {Prim::sqrt, Prim::complex_sqrt},   {Prim::tan, Prim::complex_tan},
    {Prim::tanh, Prim::complex_tanh}};

// And those that a formula does.
using Formula = Val (*)(const Val& z);
constexpr std::pair<Prim, Formula> kFormulas[] = {
    {Prim::exp2, &exp2_of},   {Prim::expm1, &expm1_of},     {Prim::log10, &log10_of},
    {Prim::log2, &log2_of},   {Prim::neg, &neg_of},         {Prim::reciprocal, &reciprocal_of},
    {Prim::rsqrt, &rsqrt_of}, {Prim::sigmoid, &sigmoid_of}, {Prim::sign, &sign_of},
    {Prim::silu, &silu_of}};

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
