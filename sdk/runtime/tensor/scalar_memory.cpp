#include "sdk/runtime/tensor/scalar_memory.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "primset/error.h"

namespace primset::runtime {
namespace {

template <typename T>
T read(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}
template <typename T>
void write(void* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

// A small IEEE-like format: `mantissa` explicit bits, exponent bias `bias`.
struct SmallFloat {
  int exponent_bits, mantissa_bits;
  // e4m3fn has none: its largest exponent holds numbers and one NaN, and it saturates.
  bool has_infinity;
};
constexpr SmallFloat kF16{5, 10, true}, kBf16{8, 7, true}, kE5m2{5, 2, true}, kE4m3{4, 3, false};

double decode(uint32_t bits, SmallFloat f) {
  const uint32_t mantissa_mask = (1u << f.mantissa_bits) - 1,
                 exponent_mask = (1u << f.exponent_bits) - 1;
  const uint32_t mantissa = bits & mantissa_mask;
  const uint32_t exponent = (bits >> f.mantissa_bits) & exponent_mask;
  const bool negative = (bits >> (f.mantissa_bits + f.exponent_bits)) & 1;
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  double v;
  if (exponent == exponent_mask && (f.has_infinity || mantissa == mantissa_mask)) {
    v = f.has_infinity && mantissa == 0 ? HUGE_VAL : NAN;
  } else if (exponent == 0) {
    v = std::ldexp(mantissa, 1 - bias - f.mantissa_bits);
  } else {
    v = std::ldexp(mantissa + (mantissa_mask + 1.0),
                   static_cast<int>(exponent) - bias - f.mantissa_bits);
  }
  return negative ? -v : v;
}

uint32_t encode(double value, SmallFloat f) {
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  const uint32_t sign = std::signbit(value) ? 1u << (f.exponent_bits + f.mantissa_bits) : 0;
  const uint32_t exponent_mask = (1u << f.exponent_bits) - 1,
                 mantissa_mask = (1u << f.mantissa_bits) - 1;
  const uint32_t infinity = exponent_mask << f.mantissa_bits;
  const uint32_t nan =
      f.has_infinity ? infinity | (1u << (f.mantissa_bits - 1)) : infinity | mantissa_mask;
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return sign | nan;
  const uint32_t overflow = f.has_infinity ? infinity : nan - 1;
  if (std::isinf(value)) return sign | overflow;
  if (magnitude == 0) return sign;
  int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  // The number in units of the last place, rounded to nearest even.
  double units = std::nearbyint(std::ldexp(magnitude, f.mantissa_bits - exponent));
  if (units >= std::ldexp(1.0, f.mantissa_bits + 1)) {
    units /= 2;
    ++exponent;
  }
  const auto whole = static_cast<uint32_t>(units);
  if (whole <= mantissa_mask) return sign | whole;  // subnormal
  const auto biased = static_cast<uint32_t>(exponent + bias);
  const uint32_t result = biased << f.mantissa_bits | (whole & mantissa_mask);
  if (biased > exponent_mask || result > overflow) return sign | overflow;
  return sign | result;
}

[[noreturn]] void unsupported(DType t) {
  throw Error(ErrorCode::not_implemented,
              fmt::format("dtype {} cannot be read as a number", name(t)));
}

}  // namespace

Scalar load_scalar(DType dtype, const void* from) {
  switch (dtype) {
    case DType::boolean:
      return read<uint8_t>(from) != 0;
    case DType::u8:
      return read<uint8_t>(from);
    case DType::i8:
      return read<int8_t>(from);
    case DType::u16:
      return read<uint16_t>(from);
    case DType::i16:
      return read<int16_t>(from);
    case DType::u32:
      return read<uint32_t>(from);
    case DType::i32:
      return read<int32_t>(from);
    case DType::u64:
      return read<uint64_t>(from);
    case DType::i64:
      return read<int64_t>(from);
    case DType::f16:
      return decode(read<uint16_t>(from), kF16);
    case DType::bf16:
      return decode(read<uint16_t>(from), kBf16);
    case DType::f8_e5m2:
      return decode(read<uint8_t>(from), kE5m2);
    case DType::f8_e4m3fn:
      return decode(read<uint8_t>(from), kE4m3);
    case DType::f32:
      return read<float>(from);
    case DType::f64:
      return read<double>(from);
    case DType::c64:
      return read<std::complex<float>>(from);
    case DType::c128:
      return read<std::complex<double>>(from);
    case DType::c32: {
      const auto* parts = static_cast<const uint16_t*>(from);
      return std::complex<double>(decode(parts[0], kF16), decode(parts[1], kF16));
    }
  }
  unsupported(dtype);
}

void store_scalar(DType dtype, const Scalar& v, void* to) {
  switch (dtype) {
    case DType::boolean:
      return write<uint8_t>(to, v.to_bool());
    case DType::u8:
    case DType::i8:
      return write(to, static_cast<uint8_t>(v.to_int()));
    case DType::u16:
    case DType::i16:
      return write(to, static_cast<uint16_t>(v.to_int()));
    case DType::u32:
    case DType::i32:
      return write(to, static_cast<uint32_t>(v.to_int()));
    case DType::u64:
    case DType::i64:
      return write(to, v.to_int());
    case DType::f16:
      return write(to, static_cast<uint16_t>(encode(v.to_double(), kF16)));
    case DType::bf16:
      return write(to, static_cast<uint16_t>(encode(v.to_double(), kBf16)));
    case DType::f8_e5m2:
      return write(to, static_cast<uint8_t>(encode(v.to_double(), kE5m2)));
    case DType::f8_e4m3fn:
      return write(to, static_cast<uint8_t>(encode(v.to_double(), kE4m3)));
    case DType::f32:
      return write(to, static_cast<float>(v.to_double()));
    case DType::f64:
      return write(to, v.to_double());
    case DType::c64:
      return write(to, std::complex<float>(v.to_complex()));
    case DType::c128:
      return write(to, v.to_complex());
    case DType::c32: {
      const std::array parts{static_cast<uint16_t>(encode(v.to_double(), kF16)),
                             static_cast<uint16_t>(encode(v.imag(), kF16))};
      return write(to, parts);
    }
  }
  unsupported(dtype);
}

double round_to(DType dtype, double value) {
  switch (dtype) {
    case DType::f16:
    case DType::c32:
      return decode(encode(value, kF16), kF16);
    case DType::bf16:
      return decode(encode(value, kBf16), kBf16);
    case DType::f8_e5m2:
      return decode(encode(value, kE5m2), kE5m2);
    case DType::f8_e4m3fn:
      return decode(encode(value, kE4m3), kE4m3);
    case DType::f32:
    case DType::c64:
      return static_cast<float>(value);
    default:
      return value;
  }
}

DType scalar_dtype(const Scalar& value) {
  switch (value.kind()) {
    case Scalar::Kind::boolean:
      return DType::boolean;
    case Scalar::Kind::integer:
      return DType::i64;
    case Scalar::Kind::floating:
      return DType::f64;
    case Scalar::Kind::complex:
      return DType::c128;
  }
  return DType::f64;
}

}  // namespace primset::runtime
