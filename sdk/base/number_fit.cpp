#include "sdk/base/number_fit.h"

#include <fmt/format.h>

#include <cmath>

#include "primset/error.h"

namespace primset {
namespace {

// The least power of two that is beyond the integers.
double beyond(DType t) {
  return std::ldexp(1.0, static_cast<int>(bits(t)) - (is_unsigned_integer(t) ? 0 : 1));
}

bool integer_fits(const Scalar& v, DType t) {
  const double end = beyond(t);
  if (v.is_integral()) {
    if (bits(t) == 64) return true;
    const auto limit = static_cast<int64_t>(end);
    const int64_t n = v.to_int();
    return n < limit && n >= (is_unsigned_integer(t) ? 1 - limit : -limit);
  }
  // A NaN is not within any bounds. 2^63 - 1 is no double.
  const double x = v.to_double(), most = bits(t) == 64 ? std::nextafter(end, 0) : end - 1;
  return x <= most && x >= (is_unsigned_integer(t) ? 0 : -end);
}

bool part_fits(double x, DType t) {
  if (t == DType::f64 || std::isnan(x)) return true;
  const FloatFormat& format = float_format(t);
  if (std::isinf(x)) return format.has_infinity();
  const uint64_t mantissa =
      (format.greatest() & format.mantissa_mask()) + format.mantissa_mask() + 1;
  const int exponent = static_cast<int>(format.greatest() >> format.mantissa_bits) - format.bias;
  return std::fabs(x) <= std::ldexp(static_cast<double>(mantissa), exponent - format.mantissa_bits);
}

// As error texts spell it: int8_t, float, c10::Half.
std::string type_text(DType t) {
  return is_integral(t) ? fmt::format("{}_t", info(t).torch_name) : std::string(info(t).cpp_name);
}

}  // namespace

bool fits(const Scalar& v, DType t) {
  if (is_bool(t)) return true;
  if (is_complex(t))
    return part_fits(v.to_double(), real_type(t)) && part_fits(v.imag(), real_type(t));
  if (v.is_complex() && v.imag() != 0) return false;
  return is_integral(t) ? integer_fits(v, t) : part_fits(v.to_double(), t);
}

void require_fits(const Scalar& v, DType t) {
  if (fits(v, t)) return;
  throw Error(ErrorCode::runtime,
              fmt::format("value cannot be converted to type {} without overflow", type_text(t)));
}

}  // namespace primset
