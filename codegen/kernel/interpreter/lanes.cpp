#include "codegen/kernel/interpreter/lanes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace primset::kir::interp {
namespace {

using Lanes = uint64_t*;
using ConstLanes = const uint64_t*;

// --- integers ------------------------------------------------------------------------------------

// F(width, x, y) -> bits; x and y zero-extended.
template <int W, auto F>
void int_lanes(Lanes out, ConstLanes a, ConstLanes b, ConstLanes, uint32_t n, uint32_t) {
  for (uint32_t i = 0; i < n; ++i) out[i] = F(W, a[i], b[i]) & low_mask(W);
}
template <auto F>
LaneFn int_op(Scalar s) {
  switch (width(s)) {
    case 1:
      return int_lanes<1, F>;
    case 8:
      return int_lanes<8, F>;
    case 16:
      return int_lanes<16, F>;
    case 32:
      return int_lanes<32, F>;
    default:
      return int_lanes<64, F>;
  }
}

template <int W, auto F>
void compare_lanes(Lanes out, ConstLanes a, ConstLanes b, ConstLanes, uint32_t n, uint32_t) {
  for (uint32_t i = 0; i < n; ++i) out[i] = F(W, a[i], b[i]);
}
template <auto F>
LaneFn int_compare(Scalar s) {
  switch (width(s)) {
    case 1:
      return compare_lanes<1, F>;
    case 8:
      return compare_lanes<8, F>;
    case 16:
      return compare_lanes<16, F>;
    case 32:
      return compare_lanes<32, F>;
    default:
      return compare_lanes<64, F>;
  }
}

__extension__ using Wide = __int128;
__extension__ using UWide = unsigned __int128;

// A value that hardware leaves open (an oversized shift, a conversion that does not fit): not zero,
// not the input, so that a kernel which depends on it gives a wrong answer.
constexpr uint64_t kUndefined = 0x5ad05ad05ad05ad0;

void check_divisor(int w, uint64_t x, uint64_t y, bool is_signed) {
  if (y == 0) throw LaneFault{"division by zero"};
  if (is_signed && y == low_mask(w) && x == uint64_t{1} << (w - 1)) {
    throw LaneFault{"the quotient of the lowest integer and -1 overflows"};
  }
}
uint64_t sdiv(int w, uint64_t x, uint64_t y) {
  check_divisor(w, x, y, true);
  return static_cast<uint64_t>(sign_extend(x, w) / sign_extend(y, w));
}
uint64_t srem(int w, uint64_t x, uint64_t y) {
  check_divisor(w, x, y, true);
  return static_cast<uint64_t>(sign_extend(x, w) % sign_extend(y, w));
}
uint64_t udiv(int w, uint64_t x, uint64_t y) {
  check_divisor(w, x, y, false);
  return x / y;
}
uint64_t urem(int w, uint64_t x, uint64_t y) {
  check_divisor(w, x, y, false);
  return x % y;
}
uint64_t mul_hi_s(int w, uint64_t x, uint64_t y) {
  return static_cast<uint64_t>((Wide{sign_extend(x, w)} * sign_extend(y, w)) >> w);
}
uint64_t mul_hi_u(int w, uint64_t x, uint64_t y) {
  return static_cast<uint64_t>((UWide{x} * y) >> w);
}

bool too_far(int w, uint64_t n) {
  return n >= static_cast<uint64_t>(w);
}

void count_bits(Lanes out, ConstLanes a, ConstLanes, ConstLanes, uint32_t n, uint32_t) {
  for (uint32_t i = 0; i < n; ++i) out[i] = static_cast<uint64_t>(std::popcount(a[i]));
}

// Correctly rounded, but for numbers that are not normal.
void exp2_lanes(Lanes out, ConstLanes a, ConstLanes, ConstLanes, uint32_t n, uint32_t) {
  for (uint32_t i = 0; i < n; ++i) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(a[i]));
    const auto y = static_cast<float>(std::exp2(static_cast<double>(x)));
    out[i] = std::bit_cast<uint32_t>(y < 0x1p-126F ? 0.0F : y);
  }
}

void reciprocal_lanes(Lanes out, ConstLanes a, ConstLanes, ConstLanes, uint32_t n, uint32_t) {
  for (uint32_t i = 0; i < n; ++i) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(a[i]));
    const float y = 1 / (std::fabs(x) < 0x1p-126F ? std::copysign(0.0F, x) : x);
    out[i] = std::bit_cast<uint32_t>(std::fabs(y) < 0x1p-126F ? std::copysign(0.0F, y) : y);
  }
}

void bf16_lanes(Lanes out, ConstLanes a, ConstLanes, ConstLanes, uint32_t n, uint32_t) {
  for (uint32_t i = 0; i < n; ++i) {
    const auto bits = static_cast<uint32_t>(a[i]);
    const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
    out[i] = nan ? 0x7fffu : (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
  }
}

LaneFn int_binary(Op op, Scalar s) {
  switch (op) {
    case Op::Add:
      return int_op<[](int, uint64_t x, uint64_t y) { return x + y; }>(s);
    case Op::Sub:
      return int_op<[](int, uint64_t x, uint64_t y) { return x - y; }>(s);
    case Op::Mul:
      return int_op<[](int, uint64_t x, uint64_t y) { return x * y; }>(s);
    case Op::MulHiS:
      return int_op<mul_hi_s>(s);
    case Op::MulHiU:
      return int_op<mul_hi_u>(s);
    case Op::SDiv:
      return int_op<sdiv>(s);
    case Op::UDiv:
      return int_op<udiv>(s);
    case Op::SRem:
      return int_op<srem>(s);
    case Op::URem:
      return int_op<urem>(s);
    case Op::And:
      return int_op<[](int, uint64_t x, uint64_t y) { return x & y; }>(s);
    case Op::Or:
      return int_op<[](int, uint64_t x, uint64_t y) { return x | y; }>(s);
    case Op::Xor:
      return int_op<[](int, uint64_t x, uint64_t y) { return x ^ y; }>(s);
    case Op::Shl:
      return int_op<[](int w, uint64_t x, uint64_t n) {
        return too_far(w, n) ? kUndefined : x << n;
      }>(s);
    case Op::LShr:
      return int_op<[](int w, uint64_t x, uint64_t n) {
        return too_far(w, n) ? kUndefined : x >> n;
      }>(s);
    case Op::AShr:
      return int_op<[](int w, uint64_t x, uint64_t n) {
        return too_far(w, n) ? kUndefined : static_cast<uint64_t>(sign_extend(x, w) >> n);
      }>(s);
    default:
      return nullptr;
  }
}

LaneFn int_comparison(Op op, Scalar s) {
  switch (op) {
    case Op::IEq:
      return int_compare<[](int, uint64_t x, uint64_t y) { return x == y; }>(s);
    case Op::INe:
      return int_compare<[](int, uint64_t x, uint64_t y) { return x != y; }>(s);
    case Op::SLt:
      return int_compare<[](int w, uint64_t x, uint64_t y) {
        return sign_extend(x, w) < sign_extend(y, w);
      }>(s);
    case Op::SLe:
      return int_compare<[](int w, uint64_t x, uint64_t y) {
        return sign_extend(x, w) <= sign_extend(y, w);
      }>(s);
    case Op::ULt:
      return int_compare<[](int, uint64_t x, uint64_t y) { return x < y; }>(s);
    case Op::ULe:
      return int_compare<[](int, uint64_t x, uint64_t y) { return x <= y; }>(s);
    default:
      return nullptr;
  }
}

// --- floating point ------------------------------------------------------------------------------

template <class T>
struct Bits;
template <>
struct Bits<float> {
  using Int = uint32_t;
};
template <>
struct Bits<double> {
  using Int = uint64_t;
};
template <class T>
T get(uint64_t bits) {
  return std::bit_cast<T>(static_cast<Bits<T>::Int>(bits));
}
template <class T>
uint64_t put(T v) {
  return std::bit_cast<typename Bits<T>::Int>(v);
}

template <class T, auto F>
void float_unary_lanes(Lanes out, ConstLanes a, ConstLanes, ConstLanes, uint32_t n, uint32_t) {
  for (uint32_t i = 0; i < n; ++i) out[i] = put<T>(F(get<T>(a[i])));
}
template <class T, auto F>
void float_binary_lanes(Lanes out, ConstLanes a, ConstLanes b, ConstLanes, uint32_t n, uint32_t) {
  for (uint32_t i = 0; i < n; ++i) out[i] = put<T>(F(get<T>(a[i]), get<T>(b[i])));
}
template <class T, auto F>
void float_compare_lanes(Lanes out, ConstLanes a, ConstLanes b, ConstLanes, uint32_t n, uint32_t) {
  for (uint32_t i = 0; i < n; ++i) out[i] = F(get<T>(a[i]), get<T>(b[i]));
}
template <auto F>
LaneFn float_unary(Scalar s) {
  return s == Scalar::f64 ? float_unary_lanes<double, F> : float_unary_lanes<float, F>;
}
template <auto F>
LaneFn float_binary(Scalar s) {
  return s == Scalar::f64 ? float_binary_lanes<double, F> : float_binary_lanes<float, F>;
}
template <auto F>
LaneFn float_compare(Scalar s) {
  return s == Scalar::f64 ? float_compare_lanes<double, F> : float_compare_lanes<float, F>;
}

template <class T, bool kFused>
void fma_lanes(Lanes out, ConstLanes a, ConstLanes b, ConstLanes c, uint32_t n, uint32_t) {
  for (uint32_t i = 0; i < n; ++i) {
    T x = get<T>(a[i]), y = get<T>(b[i]), z = get<T>(c[i]);
    out[i] = put<T>(kFused ? std::fma(x, y, z) : x * y + z);
  }
}

// A device whose division is off by up to `ulps`: moves the result by a pseudo-random amount that
// depends on the operands only.
template <class T>
T off_by(T exact, uint64_t seed, uint32_t ulps) {
  if (!std::isfinite(exact) || exact == 0) return exact;
  uint64_t h = (seed ^ (seed >> 29)) * 0x9e3779b97f4a7c15u;
  int64_t move = static_cast<int64_t>((h >> 32) % (2 * ulps + 1)) - static_cast<int64_t>(ulps);
  T toward = move < 0 ? T{0} : std::copysign(std::numeric_limits<T>::infinity(), exact);
  for (int64_t k = std::abs(move); k > 0; --k) exact = std::nextafter(exact, toward);
  return exact;
}
template <class T>
void inexact_div_lanes(Lanes out, ConstLanes a, ConstLanes b, ConstLanes, uint32_t n, uint32_t u) {
  for (uint32_t i = 0; i < n; ++i) {
    out[i] = put<T>(off_by<T>(get<T>(a[i]) / get<T>(b[i]), a[i] * 31 + b[i], u));
  }
}
template <class T>
void inexact_sqrt_lanes(Lanes out, ConstLanes a, ConstLanes, ConstLanes, uint32_t n, uint32_t u) {
  for (uint32_t i = 0; i < n; ++i) out[i] = put<T>(off_by<T>(std::sqrt(get<T>(a[i])), a[i], u));
}
void rsqrt_lanes(Lanes out, ConstLanes a, ConstLanes, ConstLanes, uint32_t n, uint32_t u) {
  for (uint32_t i = 0; i < n; ++i) {
    const auto exact = 1 / std::sqrt(static_cast<double>(get<float>(a[i])));
    out[i] = put<float>(off_by<float>(static_cast<float>(exact), a[i], u));
  }
}

template <int W>
void sign_lanes_flip(Lanes out, ConstLanes a, ConstLanes, ConstLanes, uint32_t n, uint32_t) {
  for (uint32_t i = 0; i < n; ++i) out[i] = a[i] ^ (uint64_t{1} << (W - 1));
}
template <int W>
void sign_lanes_clear(Lanes out, ConstLanes a, ConstLanes, ConstLanes, uint32_t n, uint32_t) {
  for (uint32_t i = 0; i < n; ++i) out[i] = a[i] & low_mask(W - 1);
}

LaneFn float_arithmetic(Op op, Scalar s, const InterpreterOptions& options) {
  const bool wide = s == Scalar::f64;
  switch (op) {
    case Op::FAdd:
      return float_binary<[](auto x, auto y) { return x + y; }>(s);
    case Op::FSub:
      return float_binary<[](auto x, auto y) { return x - y; }>(s);
    case Op::FMul:
      return float_binary<[](auto x, auto y) { return x * y; }>(s);
    case Op::FDiv:
      if (options.div_sqrt_error_ulps) {
        return wide ? inexact_div_lanes<double> : inexact_div_lanes<float>;
      }
      return float_binary<[](auto x, auto y) { return x / y; }>(s);
    case Op::FSqrt:
      if (options.div_sqrt_error_ulps) {
        return wide ? inexact_sqrt_lanes<double> : inexact_sqrt_lanes<float>;
      }
      return float_unary<[](auto x) { return std::sqrt(x); }>(s);
    case Op::FNeg:
      return wide ? sign_lanes_flip<64> : sign_lanes_flip<32>;
    case Op::FAbs:
      return wide ? sign_lanes_clear<64> : sign_lanes_clear<32>;
    case Op::FFloor:
      return float_unary<[](auto x) { return std::floor(x); }>(s);
    case Op::FCeil:
      return float_unary<[](auto x) { return std::ceil(x); }>(s);
    case Op::FTrunc:
      return float_unary<[](auto x) { return std::trunc(x); }>(s);
    case Op::FRint:
      return float_unary<[](auto x) { return std::nearbyint(x); }>(s);
    case Op::Fma:
      if (options.fused_fma) return wide ? fma_lanes<double, true> : fma_lanes<float, true>;
      return wide ? fma_lanes<double, false> : fma_lanes<float, false>;
    case Op::FEq:
      return float_compare<[](auto x, auto y) { return x == y; }>(s);
    case Op::FNe:
      return float_compare<[](auto x, auto y) { return x != y; }>(s);
    case Op::FLt:
      return float_compare<[](auto x, auto y) { return x < y; }>(s);
    case Op::FLe:
      return float_compare<[](auto x, auto y) { return x <= y; }>(s);
    default:
      return nullptr;
  }
}

// --- conversions ---------------------------------------------------------------------------------

}  // namespace

double bf16_to_double(uint64_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

double half_to_double(uint64_t h) {
  const int exponent = static_cast<int>(h >> 10 & 31);
  const double mantissa = static_cast<double>(h & 0x3ff);
  double v = std::ldexp(mantissa + 1024, exponent - 25);
  if (exponent == 0) v = std::ldexp(mantissa, -24);
  if (exponent == 31) {
    uint64_t quiet = h & 0x3ff ? uint64_t{1} << 51 : 0;
    v = get<double>(uint64_t{0x7ff} << 52 | quiet | (h & 0x3ff) << 42);
  }
  return get<double>(put<double>(v) | (h & 0x8000) << 48);
}

namespace {

// Rounds once, to nearest even: the quantum of the result is 2^(max(e, -14) - 10).
uint64_t double_to_half(double v) {
  uint64_t sign = std::signbit(v) ? 0x8000 : 0;
  double a = std::fabs(v);
  if (a != a) return sign | 0x7e00 | (put<double>(v) >> 42 & 0x1ff);
  if (a >= 65520.0) return sign | 0x7c00;
  int exponent = a == 0 ? -14 : std::max(std::ilogb(a), -14);
  auto units = static_cast<uint64_t>(std::nearbyint(std::ldexp(a, 10 - exponent)));
  // A carry out of the mantissa steps the exponent up by itself.
  return sign | (units + (static_cast<uint64_t>(exponent + 14) << 10));
}

template <Scalar kFrom>
double read_float(uint64_t bits) {
  if constexpr (kFrom == Scalar::f16) return half_to_double(bits);
  if constexpr (kFrom == Scalar::f32) return get<float>(bits);
  return get<double>(bits);
}
template <Scalar kTo>
uint64_t write_float(double v) {
  if constexpr (kTo == Scalar::f16) return double_to_half(v);
  if constexpr (kTo == Scalar::f32) return put<float>(static_cast<float>(v));
  return put<double>(v);
}

template <Scalar kFrom, Scalar kTo>
void float_convert_lanes(Lanes out, ConstLanes a, ConstLanes, ConstLanes, uint32_t n, uint32_t) {
  for (uint32_t i = 0; i < n; ++i) out[i] = write_float<kTo>(read_float<kFrom>(a[i]));
}
template <Scalar kFrom>
LaneFn float_convert_from(Scalar to) {
  switch (to) {
    case Scalar::f16:
      return float_convert_lanes<kFrom, Scalar::f16>;
    case Scalar::f32:
      return float_convert_lanes<kFrom, Scalar::f32>;
    default:
      return float_convert_lanes<kFrom, Scalar::f64>;
  }
}
LaneFn float_convert(Scalar from, Scalar to) {
  switch (from) {
    case Scalar::f16:
      return float_convert_from<Scalar::f16>(to);
    case Scalar::f32:
      return float_convert_from<Scalar::f32>(to);
    default:
      return float_convert_from<Scalar::f64>(to);
  }
}

template <int W, class T, bool kSigned>
void int_to_float_lanes(Lanes out, ConstLanes a, ConstLanes, ConstLanes, uint32_t n, uint32_t) {
  for (uint32_t i = 0; i < n; ++i) {
    out[i] = put<T>(kSigned ? static_cast<T>(sign_extend(a[i], W)) : static_cast<T>(a[i]));
  }
}
template <int W, class T, bool kSigned>
void float_to_int_lanes(Lanes out, ConstLanes a, ConstLanes, ConstLanes, uint32_t n, uint32_t) {
  const double low = kSigned ? -std::ldexp(1.0, W - 1) : 0.0;
  const double high = std::ldexp(1.0, kSigned ? W - 1 : W);
  for (uint32_t i = 0; i < n; ++i) {
    double v = std::trunc(static_cast<double>(get<T>(a[i])));
    uint64_t r = kUndefined;
    if (v >= low && v < high) {
      r = kSigned ? static_cast<uint64_t>(static_cast<int64_t>(v)) : static_cast<uint64_t>(v);
    }
    out[i] = r & low_mask(W);
  }
}
template <int W, bool kSigned>
LaneFn int_float_of(bool to_float, bool f64) {
  if (to_float) {
    return f64 ? int_to_float_lanes<W, double, kSigned> : int_to_float_lanes<W, float, kSigned>;
  }
  return f64 ? float_to_int_lanes<W, double, kSigned> : float_to_int_lanes<W, float, kSigned>;
}
template <bool kSigned>
LaneFn int_float(Scalar integer, Scalar floating, bool to_float) {
  const bool f64 = floating == Scalar::f64;
  switch (width(integer)) {
    case 1:
      return int_float_of<1, kSigned>(to_float, f64);
    case 8:
      return int_float_of<8, kSigned>(to_float, f64);
    case 16:
      return int_float_of<16, kSigned>(to_float, f64);
    case 32:
      return int_float_of<32, kSigned>(to_float, f64);
    default:
      return int_float_of<64, kSigned>(to_float, f64);
  }
}

template <int W>
void truncate_lanes(Lanes out, ConstLanes a, ConstLanes, ConstLanes, uint32_t n, uint32_t) {
  for (uint32_t i = 0; i < n; ++i) out[i] = a[i] & low_mask(W);
}
template <int W>
void sign_extend_lanes(Lanes out, ConstLanes a, ConstLanes, ConstLanes, uint32_t n, uint32_t w) {
  for (uint32_t i = 0; i < n; ++i) {
    out[i] = static_cast<uint64_t>(sign_extend(a[i], W)) & low_mask(static_cast<int>(w));
  }
}
void copy_lanes(Lanes out, ConstLanes a, ConstLanes, ConstLanes, uint32_t n, uint32_t) {
  for (uint32_t i = 0; i < n; ++i) out[i] = a[i];
}

LaneFn conversion(Op op, Scalar from, Scalar to) {
  switch (op) {
    case Op::Trunc:
      switch (width(to)) {
        case 1:
          return truncate_lanes<1>;
        case 8:
          return truncate_lanes<8>;
        case 16:
          return truncate_lanes<16>;
        default:
          return truncate_lanes<32>;
      }
    case Op::SExt:
      switch (width(from)) {
        case 1:
          return sign_extend_lanes<1>;
        case 8:
          return sign_extend_lanes<8>;
        case 16:
          return sign_extend_lanes<16>;
        default:
          return sign_extend_lanes<32>;
      }
    case Op::ZExt:
    case Op::Bitcast:
      return copy_lanes;
    case Op::SIToFP:
      return int_float<true>(from, to, true);
    case Op::UIToFP:
      return int_float<false>(from, to, true);
    case Op::FPToSI:
      return int_float<true>(to, from, false);
    case Op::FPToUI:
      return int_float<false>(to, from, false);
    case Op::FPExt:
    case Op::FPTrunc:
      return float_convert(from, to);
    default:
      return nullptr;
  }
}

// --- vectors -------------------------------------------------------------------------------------

void select_lanes(Lanes out, ConstLanes c, ConstLanes a, ConstLanes b, uint32_t n, uint32_t) {
  for (uint32_t i = 0; i < n; ++i) out[i] = c[i] ? a[i] : b[i];
}
void splat_lanes(Lanes out, ConstLanes a, ConstLanes, ConstLanes, uint32_t n, uint32_t) {
  for (uint32_t i = 0; i < n; ++i) out[i] = a[0];
}
void extract_lane(Lanes out, ConstLanes a, ConstLanes, ConstLanes, uint32_t, uint32_t lane) {
  out[0] = a[lane];
}
void insert_lane(Lanes out, ConstLanes a, ConstLanes s, ConstLanes, uint32_t n, uint32_t lane) {
  for (uint32_t i = 0; i < n; ++i) out[i] = i == lane ? s[0] : a[i];
}
// Any and All get their operand's lane count in imm, since the result has one lane.
void any_lane(Lanes out, ConstLanes a, ConstLanes, ConstLanes, uint32_t, uint32_t n) {
  uint64_t r = 0;
  for (uint32_t i = 0; i < n; ++i) r |= a[i];
  out[0] = r;
}
void all_lanes(Lanes out, ConstLanes a, ConstLanes, ConstLanes, uint32_t, uint32_t n) {
  uint64_t r = 1;
  for (uint32_t i = 0; i < n; ++i) r &= a[i];
  out[0] = r;
}

template <typename Int>
void active_lane_mask(Lanes out, ConstLanes a, ConstLanes, ConstLanes, uint32_t n, uint32_t) {
  const auto count = int64_t{static_cast<Int>(a[0])};
  for (uint32_t i = 0; i < n; ++i) out[i] = i < count;
}

LaneFn vector_op(Op op, Scalar from) {
  switch (op) {
    case Op::ActiveLaneMask:
      return from == Scalar::i64   ? active_lane_mask<int64_t>
             : from == Scalar::i32 ? active_lane_mask<int32_t>
             : from == Scalar::i16 ? active_lane_mask<int16_t>
                                   : active_lane_mask<int8_t>;
    case Op::Splat:
      return splat_lanes;
    case Op::Extract:
      return extract_lane;
    case Op::Insert:
      return insert_lane;
    case Op::Any:
      return any_lane;
    case Op::All:
      return all_lanes;
    default:
      return nullptr;
  }
}

template <class T>
uint64_t float_rmw(Rmw op, uint64_t old, uint64_t value) {
  T x = get<T>(old), y = get<T>(value);
  if (op == Rmw::fadd) return put<T>(x + y);
  if (std::isnan(x)) return old;
  bool take = std::isnan(y) || (op == Rmw::fmin ? y < x : x < y);
  return take ? value : old;
}

LaneFn device_float(Op op) {
  switch (op) {
    case Op::FExp2:
      return exp2_lanes;
    case Op::FReciprocal:
      return reciprocal_lanes;
    case Op::FRsqrt:
      return rsqrt_lanes;
    default:
      return bf16_lanes;
  }
}

}  // namespace

LaneFn lane_function(Op op, Scalar from, Scalar to, const InterpreterOptions& options) {
  switch (info(op).group) {
    case Group::IntBinary:
      return int_binary(op, from);
    case Group::IntUnary:
      return count_bits;
    case Group::FloatUnary:
    case Group::FloatBinary:
    case Group::FloatTernary:
      return float_arithmetic(op, from, options);
    case Group::FloatDevice:
      return device_float(op);
    case Group::Compare:
      return is_float(from) ? float_arithmetic(op, from, options) : int_comparison(op, from);
    case Group::Choice:
      return select_lanes;
    case Group::Convert:
      return conversion(op, from, to);
    case Group::Vector:
      return vector_op(op, from);
    default:
      return nullptr;
  }
}

uint64_t apply_rmw(Rmw op, Scalar type, uint64_t old, uint64_t value) {
  const int w = width(type);
  const bool less_s = sign_extend(old, w) < sign_extend(value, w), less_u = old < value;
  switch (op) {
    case Rmw::add:
      return (old + value) & low_mask(w);
    case Rmw::min_s:
      return less_s ? old : value;
    case Rmw::max_s:
      return less_s ? value : old;
    case Rmw::min_u:
      return less_u ? old : value;
    case Rmw::max_u:
      return less_u ? value : old;
    case Rmw::and_:
      return old & value;
    case Rmw::or_:
      return old | value;
    case Rmw::xor_:
      return old ^ value;
    case Rmw::exchange:
      return value;
    case Rmw::fadd:
    case Rmw::fmin:
    case Rmw::fmax:
      return type == Scalar::f64 ? float_rmw<double>(op, old, value)
                                 : float_rmw<float>(op, old, value);
  }
  return old;
}

}  // namespace primset::kir::interp
