#include "sdk/runtime/tensor/scalar_memory.h"

#include <bit>
#include <complex>
#include <cstddef>
#include <cstring>

#include "sdk/base/float_bits.h"

namespace primset::runtime {
namespace {

static_assert(std::endian::native == std::endian::little);

uint64_t read_bits(const void* from, size_t bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, from, bytes);
  return bits;
}

double read_real(DType dtype, const void* from) {
  const uint64_t bits = read_bits(from, byte_size(dtype));
  if (dtype == DType::f64) return std::bit_cast<double>(bits);
  if (dtype == DType::f32) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  return float_from_bits(bits, float_format(dtype));
}

int64_t read_integer(DType dtype, const void* from) {
  const int unused = 64 - bits(dtype);
  const uint64_t high = read_bits(from, byte_size(dtype)) << unused;
  return is_signed_integer(dtype) ? static_cast<int64_t>(high) >> unused
                                  : static_cast<int64_t>(high >> unused);
}

uint64_t real_bits(DType dtype, double value) {
  if (dtype == DType::f64) return std::bit_cast<uint64_t>(value);
  if (dtype == DType::f32) return std::bit_cast<uint32_t>(static_cast<float>(value));
  return float_to_bits(value, float_format(dtype));
}

void write_real(DType dtype, double value, void* to) {
  const uint64_t bits = real_bits(dtype, value);
  std::memcpy(to, &bits, byte_size(dtype));
}

}  // namespace

Scalar load_scalar(DType dtype, const void* from) {
  if (is_bool(dtype)) return read_bits(from, byte_size(dtype)) != 0;
  if (is_floating(dtype)) return read_real(dtype, from);
  if (is_integral(dtype)) return read_integer(dtype, from);
  const DType part = real_type(dtype);
  const auto* parts = static_cast<const std::byte*>(from);
  return std::complex<double>(read_real(part, parts), read_real(part, parts + byte_size(part)));
}

void store_scalar(DType dtype, const Scalar& v, void* to) {
  if (is_floating(dtype)) return write_real(dtype, v.to_double(), to);
  if (is_complex(dtype)) {
    const DType part = real_type(dtype);
    write_real(part, v.to_double(), to);
    return write_real(part, v.imag(), static_cast<std::byte*>(to) + byte_size(part));
  }
  const int64_t value = is_bool(dtype) ? int64_t{v.to_bool()} : v.to_int();
  std::memcpy(to, &value, byte_size(dtype));
}

double round_to(DType dtype, double value) {
  const DType part = real_type(dtype);
  if (!is_floating(part) || part == DType::f64) return value;
  if (part == DType::f32) return static_cast<float>(value);
  const FloatFormat& format = float_format(part);
  return float_from_bits(float_to_bits(value, format), format);
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
