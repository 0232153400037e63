// Binary floating-point formats by their parameters: how bit patterns stand for numbers, infinities
// and NaN. specs/dtypes.yaml states the parameters of each floating dtype.
#ifndef PRIMSET_FLOAT_FORMAT_H_
#define PRIMSET_FLOAT_FORMAT_H_

#include <cstdint>

namespace primset {

enum class NanEncoding : uint8_t {
  ieee,           // the greatest exponent: infinity with mantissa 0, NaN with any other
  all_ones,       // all bits but the sign; no infinity: the greatest exponent holds numbers
  negative_zero,  // the pattern of -0, and no other; neither -0 nor infinity exists
};

// What a conversion makes of a number beyond the range, and of infinity.
enum class Overflow : uint8_t { infinity, saturate, nan };

// From the highest bit: the sign, the exponent, the mantissa. A number is
// 1.mantissa * 2^(exponent - bias), with exponent 0 it is 0.mantissa * 2^(1 - bias). A format
// without a mantissa has no sign either: its numbers are the powers of two, 2^(exponent - bias),
// and no 0.
struct FloatFormat {
  int exponent_bits = 0;  // 0: not a floating dtype
  int mantissa_bits = 0;  // without the leading one, which is not stored
  int bias = 0;
  NanEncoding nan = NanEncoding::ieee;
  Overflow overflow = Overflow::infinity;

  constexpr bool has_sign() const { return mantissa_bits != 0; }
  constexpr bool has_infinity() const { return nan == NanEncoding::ieee; }
  constexpr bool has_negative_zero() const { return nan != NanEncoding::negative_zero; }

  // Exponents of the smallest normal number and of the largest binade.
  constexpr int min_exponent() const { return (has_sign() ? 1 : 0) - bias; }
  constexpr int max_exponent() const {
    return (1 << exponent_bits) - (has_infinity() || !has_sign() ? 2 : 1) - bias;
  }

  // Bit patterns. A magnitude is what a pattern is without its sign.
  constexpr uint64_t sign_bit() const { return has_sign() ? magnitude_mask() + 1 : 0; }
  constexpr uint64_t magnitude_mask() const {
    return (uint64_t{1} << (exponent_bits + mantissa_bits)) - 1;
  }
  constexpr uint64_t mantissa_mask() const { return (uint64_t{1} << mantissa_bits) - 1; }
  constexpr uint64_t greatest_exponent() const { return magnitude_mask() & ~mantissa_mask(); }
  // Of the greatest finite number.
  constexpr uint64_t greatest() const {
    switch (nan) {
      case NanEncoding::ieee:
        return greatest_exponent() - 1;
      case NanEncoding::all_ones:
        return magnitude_mask() - 1;
      case NanEncoding::negative_zero:
        break;
    }
    return magnitude_mask();
  }
  constexpr uint64_t quiet_nan() const {
    switch (nan) {
      case NanEncoding::ieee:
        return greatest_exponent() | (mantissa_mask() + 1) >> 1;
      case NanEncoding::all_ones:
        return magnitude_mask();
      case NanEncoding::negative_zero:
        break;
    }
    return sign_bit();
  }
  // What a number beyond the range becomes, without its sign.
  constexpr uint64_t overflowed() const {
    switch (overflow) {
      case Overflow::infinity:
        return greatest_exponent();
      case Overflow::saturate:
        return greatest();
      case Overflow::nan:
        break;
    }
    return quiet_nan();
  }
  constexpr bool is_infinity(uint64_t pattern) const {
    return has_infinity() && (pattern & magnitude_mask()) == greatest_exponent();
  }
  constexpr bool is_nan(uint64_t pattern) const {
    if (nan == NanEncoding::negative_zero) return pattern == sign_bit();
    return (pattern & magnitude_mask()) > greatest() + (has_infinity() ? 1 : 0);
  }

  friend constexpr bool operator==(const FloatFormat&, const FloatFormat&) = default;
};

}  // namespace primset

#endif  // PRIMSET_FLOAT_FORMAT_H_
