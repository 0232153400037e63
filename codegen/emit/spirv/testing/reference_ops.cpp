#include "codegen/emit/spirv/testing/reference_ops.h"

#include <bit>
#include <cmath>
#include <random>

namespace primset::emit::testing {

using kir::Op;
using kir::Scalar;

namespace {

uint64_t mask_of(Scalar s) {
  const int w = kir::width(s);
  return w == 64 ? ~uint64_t{0} : (uint64_t{1} << w) - 1;
}

int64_t as_signed(Scalar s, uint64_t bits) {
  const int shift = 64 - kir::width(s);
  return static_cast<int64_t>(bits << shift) >> shift;
}

template <typename F>
auto bits_of(F v) {
  if constexpr (sizeof(F) == 4) {
    return std::bit_cast<uint32_t>(v);
  } else {
    return std::bit_cast<uint64_t>(v);
  }
}

template <typename F>
F float_of(uint64_t bits) {
  if constexpr (sizeof(F) == 4) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  } else {
    return std::bit_cast<double>(bits);
  }
}

double any_float(Scalar s, uint64_t bits) {
  switch (s) {
    case Scalar::f16:
      return static_cast<double>(half_to_float(static_cast<uint16_t>(bits)));
    case Scalar::f32:
      return static_cast<double>(float_of<float>(bits));
    default:
      return float_of<double>(bits);
  }
}

uint64_t reference_int(Op op, Scalar s, uint64_t x, uint64_t y) {
  const int64_t sx = as_signed(s, x), sy = as_signed(s, y);
  __extension__ using Wide = __int128;
  __extension__ using UWide = unsigned __int128;
  const auto high = [&](UWide product) { return static_cast<uint64_t>(product >> kir::width(s)); };
  switch (op) {
    case Op::Add:
      return x + y;
    case Op::Sub:
      return x - y;
    case Op::Mul:
      return x * y;
    case Op::MulHiS:
      return high(static_cast<UWide>(static_cast<Wide>(sx) * sy));
    case Op::MulHiU:
      return high(static_cast<UWide>(x) * y);
    case Op::SDiv:
      return static_cast<uint64_t>(sx / sy);
    case Op::UDiv:
      return x / y;
    case Op::SRem:
      return static_cast<uint64_t>(sx % sy);
    case Op::URem:
      return x % y;
    case Op::And:
      return x & y;
    case Op::Or:
      return x | y;
    case Op::Xor:
      return x ^ y;
    case Op::Shl:
      return x << y;
    case Op::LShr:
      return x >> y;
    case Op::AShr:
      return static_cast<uint64_t>(sx >> y);
    case Op::IEq:
      return x == y;
    case Op::INe:
      return x != y;
    case Op::SLt:
      return sx < sy;
    case Op::SLe:
      return sx <= sy;
    case Op::ULt:
      return x < y;
    default:
      return x <= y;  // ULe
  }
}

template <typename F>
uint64_t reference_float(Op op, const Operands& operands) {
  const F x = float_of<F>(operands[0]), y = float_of<F>(operands[1]), z = float_of<F>(operands[2]);
  const uint64_t sign = uint64_t{1} << (sizeof(F) * 8 - 1);
  switch (op) {
    case Op::FAdd:
      return bits_of<F>(x + y);
    case Op::FSub:
      return bits_of<F>(x - y);
    case Op::FMul:
      return bits_of<F>(x * y);
    case Op::FDiv:
      return bits_of<F>(x / y);
    case Op::FNeg:
      return operands[0] ^ sign;
    case Op::FAbs:
      return operands[0] & ~sign;
    case Op::FSqrt:
      return bits_of<F>(std::sqrt(x));
    case Op::FFloor:
      return bits_of<F>(std::floor(x));
    case Op::FCeil:
      return bits_of<F>(std::ceil(x));
    case Op::FTrunc:
      return bits_of<F>(std::trunc(x));
    case Op::FRint:
      return bits_of<F>(std::nearbyint(x));
    case Op::Fma:
      return bits_of<F>(std::fma(x, y, z));
    case Op::FEq:
      return x == y;
    case Op::FNe:
      return x != y;
    case Op::FLt:
      return x < y;
    default:
      return x <= y;  // FLe
  }
}

template <typename V>
uint64_t to_float_bits(Scalar to, V v) {
  switch (to) {
    case Scalar::f16:
      return float_to_half(static_cast<float>(v));
    case Scalar::f32:
      return bits_of<float>(static_cast<float>(v));
    default:
      return bits_of<double>(static_cast<double>(v));
  }
}

uint64_t reference_convert(Op op, Scalar from, Scalar to, uint64_t x) {
  switch (op) {
    case Op::Trunc:
    case Op::ZExt:
    case Op::Bitcast:
      return x;
    case Op::SExt:
      return static_cast<uint64_t>(as_signed(from, x));
    case Op::SIToFP:
      return to_float_bits(to, as_signed(from, x));
    case Op::UIToFP:
      return to_float_bits(to, x);
    case Op::FPToSI:
      return static_cast<uint64_t>(static_cast<int64_t>(any_float(from, x)));
    case Op::FPToUI:
      return static_cast<uint64_t>(any_float(from, x));
    default:
      return to_float_bits(to, any_float(from, x));  // FPExt, FPTrunc
  }
}

}  // namespace

uint64_t reference(Op op, Scalar from, Scalar to, const Operands& x) {
  const uint64_t result = [&] {
    switch (kir::info(op).group) {
      case kir::Group::Choice:
        return (x[0] & 1) != 0 ? x[1] : x[2];
      case kir::Group::Convert:
        return reference_convert(op, from, to, x[0]);
      default:
        break;
    }
    if (from == Scalar::f32) return reference_float<float>(op, x);
    if (from == Scalar::f64) return reference_float<double>(op, x);
    return reference_int(op, from, x[0], x[1]);
  }();
  return result & mask_of(to);
}

bool defined(Op op, Scalar from, Scalar to, const Operands& x) {
  switch (op) {
    case Op::SDiv:
    case Op::SRem: {
      const uint64_t min = uint64_t{1} << (kir::width(from) - 1);
      return x[1] != 0 && !(x[0] == min && x[1] == mask_of(from));
    }
    case Op::UDiv:
    case Op::URem:
      return x[1] != 0;
    case Op::Shl:
    case Op::LShr:
    case Op::AShr:
      return x[1] < static_cast<uint64_t>(kir::width(from));
    case Op::FPToSI: {
      const double v = std::trunc(any_float(from, x[0]));
      const double limit = std::ldexp(1.0, kir::width(to) - 1);
      return v >= -limit && v < limit;
    }
    case Op::FPToUI: {
      const double v = std::trunc(any_float(from, x[0]));
      return v >= 0 && v < std::ldexp(1.0, kir::width(to));
    }
    // Narrowing to f16 goes through f32 in the reference: right only from f32.
    case Op::FPTrunc:
      return to != Scalar::f16 || from == Scalar::f32;
    default:
      return true;
  }
}

bool same_result(Op op, Scalar to, uint64_t expected, uint64_t seen) {
  if (expected == seen) return true;
  const bool moves_bits = op == Op::Select || op == Op::Bitcast || op == Op::FNeg || op == Op::FAbs;
  return kir::is_float(to) && !moves_bits && is_nan(to, expected) && is_nan(to, seen);
}

std::vector<uint64_t> interesting_values(Scalar s, size_t count, uint32_t seed) {
  std::vector<uint64_t> values;
  const uint64_t mask = mask_of(s);
  if (kir::is_float(s)) {
    const int mantissa = s == Scalar::f16 ? 10 : s == Scalar::f32 ? 23 : 52;
    const uint64_t one = uint64_t{1} << mantissa, sign = uint64_t{1} << (kir::width(s) - 1);
    const uint64_t infinity = mask & ~sign & ~(one - 1);
    for (uint64_t v :
         {uint64_t{0}, uint64_t{1}, one - 1, one, infinity - 1, infinity, infinity | one >> 1,
          infinity | one >> 1 | 5, to_float_bits(s, 1.0), to_float_bits(s, 0.5),
          to_float_bits(s, 1.5), to_float_bits(s, 2.5), to_float_bits(s, 3.0),
          to_float_bits(s, 1e-3), to_float_bits(s, 127.0), to_float_bits(s, 32768.0),
          to_float_bits(s, 8388609.0), to_float_bits(s, 2147483648.0)}) {
      values.insert(values.end(), {v & mask, (v & mask) | sign});
    }
  } else {
    for (int bit = 0; bit < kir::width(s); ++bit) {
      const uint64_t v = uint64_t{1} << bit;
      for (uint64_t w : {v, v - 1, v + 1, ~v, 0 - v}) values.push_back(w & mask);
    }
  }
  std::mt19937_64 random(seed);
  while (values.size() < count) {
    uint64_t v = random();
    // Half of the floats with magnitudes about 1, where results do not overflow.
    if (kir::is_float(s) && s != Scalar::f16 && (random() & 1) != 0) {
      const double unit = static_cast<double>(v >> 11) * 0x1p-53;
      v = to_float_bits(s, std::ldexp(unit - 0.5, static_cast<int>(random() % 40) - 8));
    } else if (kir::is_int(s) && (random() & 3) == 0) {
      v >>= random() % 64;
    }
    values.push_back(v & mask);
  }
  values.resize(count);
  return values;
}

bool is_nan(Scalar s, uint64_t bits) {
  return kir::is_float(s) && std::isnan(any_float(s, bits));
}

float half_to_float(uint16_t h) {
  return static_cast<float>(std::bit_cast<_Float16>(h));
}
uint16_t float_to_half(float f) {
  return std::bit_cast<uint16_t>(static_cast<_Float16>(f));
}

}  // namespace primset::emit::testing
