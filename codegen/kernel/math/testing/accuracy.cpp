#include "codegen/kernel/math/testing/accuracy.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>

#include "codegen/kernel/math/math.h"

namespace primset::kir::math_test {
namespace {

using Unary = Value (*)(Builder&, Value);
using Binary = Value (*)(Builder&, Value, Value);

template <Unary kFunction>
Function unary() {
  return [](Builder& b, const std::vector<Value>& x) { return kFunction(b, x[0]); };
}
template <Binary kFunction>
Function binary() {
  return [](Builder& b, const std::vector<Value>& x) { return kFunction(b, x[0], x[1]); };
}

template <long double (*kReference)(long double)>
long double first(long double x, long double) {
  return kReference(x);
}

long double normal_cdf(long double x, long double) {
  return erfcl(-x * sqrtl(0.5L)) / 2;
}

}  // namespace

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      {"exp", 1, unary<math::exp>(), first<expl>, 1, 1},
      {"exp2", 1, unary<math::exp2>(), first<exp2l>, 1, 1},
      {"expm1", 1, unary<math::expm1>(), first<expm1l>, 2, 2},
      {"log", 1, unary<math::log>(), first<logl>, 1, 1},
      {"log2", 1, unary<math::log2>(), first<log2l>, 2, 2},
      {"log10", 1, unary<math::log10>(), first<log10l>, 2, 2},
      {"log1p", 1, unary<math::log1p>(), first<log1pl>, 2, 2},
      {"pow", 2, binary<math::pow>(), powl, 2, 2},
      {"sin", 1, unary<math::sin>(), first<sinl>, 2, 1},
      {"cos", 1, unary<math::cos>(), first<cosl>, 2, 1},
      {"tan", 1, unary<math::tan>(), first<tanl>, 3, 2},
      {"atan", 1, unary<math::atan>(), first<atanl>, 2, 2},
      {"atan2", 2, binary<math::atan2>(), atan2l, 2, 2},
      {"tanh", 1, unary<math::tanh>(), first<tanhl>, 2, 2},
      {"erf", 1, unary<math::erf>(), first<erfl>, 2, 2},
      {"erfc", 1, unary<math::erfc>(), first<erfcl>, 6, 4},
      {"normal_cdf", 1, unary<math::normal_cdf>(), normal_cdf, 6, 4},
  };
  return kCases;
}

std::string to_string(const Worst& w) {
  std::string s;
  char text[128];
  std::snprintf(text, sizeof text, "%.4f ULP at", w.ulp);
  s += text;
  for (double x : w.at) {
    std::snprintf(text, sizeof text, " %a (%.9g)", x, x);
    s += text;
  }
  std::snprintf(text, sizeof text, ": %a (%.9g), expected %La (%.9Lg)", w.got, w.got, w.expected,
                w.expected);
  return s + text;
}

double as_double(Scalar type, uint64_t bits) {
  return type == Scalar::f64 ? std::bit_cast<double>(bits)
                             : std::bit_cast<float>(static_cast<uint32_t>(bits));
}

double ulp_error(Scalar type, double got, long double expected) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const bool wide = type == Scalar::f64;
  const bool nan = std::isnan(expected);
  if (nan || std::isnan(got)) return nan && std::isnan(got) ? 0 : kInfinity;
  const int digits = wide ? 53 : 24, highest = wide ? 1024 : 128, lowest = wide ? -1074 : -149;
  const long double top = ldexpl(1.0L, highest);
  if (std::isinf(got) && std::fabs(expected) >= top && (got > 0) == (expected > 0)) return 0;
  long double value = got;
  if (std::isinf(got)) value = got > 0 ? top : -top;
  if (std::isinf(expected)) return kInfinity;
  const int exponent =
      expected == 0 ? lowest : std::clamp(ilogbl(expected) - digits + 1, lowest, highest - digits);
  return static_cast<double>(std::fabs(value - expected) / ldexpl(1.0L, exponent));
}

std::vector<long double> reference_values(const Case& c, Scalar type,
                                          const std::vector<std::vector<uint64_t>>& arguments) {
  std::vector<long double> values;
  values.reserve(arguments[0].size());
  for (size_t i = 0; i < arguments[0].size(); ++i) {
    const double x = as_double(type, arguments[0][i]);
    values.push_back(c.reference(x, c.arguments > 1 ? as_double(type, arguments[1][i]) : 0));
  }
  return values;
}

double ulp_error(const Device& device, Scalar type, double got, long double expected) {
  const bool flushed = device.target.flush_denormals_f32 && type == Scalar::f32 && got == 0 &&
                       std::fabs(expected) < 0x1p-126L;
  return flushed ? 0 : ulp_error(type, got, expected);
}

Worst measure(const Device& device, const Case& c, Scalar type, uint16_t lanes,
              const std::vector<std::vector<uint64_t>>& arguments,
              const std::vector<long double>& references) {
  const auto results = evaluate(device, c.function, type, type, lanes, arguments);
  Worst worst;
  for (size_t i = 0; i < results.size(); ++i) {
    const double got = as_double(type, results[i]);
    const double error = ulp_error(device, type, got, references[i]);
    if (!(error > worst.ulp)) continue;
    worst = {error, {}, got, references[i]};
    for (const auto& a : arguments) worst.at.push_back(as_double(type, a[i]));
  }
  return worst;
}

}  // namespace primset::kir::math_test
