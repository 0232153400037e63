// A number without a tensor: ATen's Scalar. It remembers which kind of literal it was, since the
// kind (bool < integer < floating < complex) takes part in type promotion.
#ifndef PRIMSET_SCALAR_H_
#define PRIMSET_SCALAR_H_

#include <primset/export.h>

#include <complex>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>

namespace primset {

class Scalar {
 public:
  enum class Kind : uint8_t { boolean, integer, floating, complex };

  constexpr Scalar() = default;
  constexpr Scalar(bool v) : kind_(Kind::boolean), integer_(v), real_(v) {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  constexpr Scalar(T v)
      : kind_(Kind::integer), integer_(static_cast<int64_t>(v)), real_(static_cast<double>(v)) {}
  template <std::floating_point T>
  constexpr Scalar(T v) : kind_(Kind::floating), real_(static_cast<double>(v)) {}
  template <typename T>
  constexpr Scalar(std::complex<T> v)
      : kind_(Kind::complex),
        real_(static_cast<double>(v.real())),
        imag_(static_cast<double>(v.imag())) {}

  constexpr Kind kind() const { return kind_; }
  constexpr bool is_bool() const { return kind_ == Kind::boolean; }
  constexpr bool is_integer() const { return kind_ == Kind::integer; }
  constexpr bool is_integral() const { return kind_ <= Kind::integer; }
  constexpr bool is_floating() const { return kind_ == Kind::floating; }
  constexpr bool is_complex() const { return kind_ == Kind::complex; }

  // The value as another kind; the caller has checked that this is meant. Of a number that i64 does
  // not hold, NaN among them, the least integer, as processors convert it.
  constexpr int64_t to_int() const {
    if (is_integral()) return integer_;
    const bool holds = real_ >= -0x1p63 && real_ < 0x1p63;
    return holds ? static_cast<int64_t>(real_) : std::numeric_limits<int64_t>::min();
  }
  constexpr double to_double() const { return real_; }
  constexpr double imag() const { return imag_; }
  constexpr bool to_bool() const {
    return is_integral() ? integer_ != 0 : (real_ != 0 || imag_ != 0);
  }
  std::complex<double> to_complex() const { return {real_, imag_}; }

  friend constexpr bool operator==(const Scalar& a, const Scalar& b) = default;

 private:
  Kind kind_ = Kind::integer;
  int64_t integer_ = 0;  // bool and integer: the value; else 0
  double real_ = 0;
  double imag_ = 0;
};

// "true", "3", "2.5", "nan", "(1+2j)"
PRIMSET_API std::string to_string(const Scalar& s);

}  // namespace primset

#endif  // PRIMSET_SCALAR_H_
