// Element types. The codes are ATen's ScalarType codes, so that a number read from a PyTorch
// schema, a plugin or a spec bundle means the same everywhere; they never change.
#ifndef PRIMSET_DTYPE_H_
#define PRIMSET_DTYPE_H_

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "primset/float_format.h"

namespace primset {

enum class DType : uint8_t {
#define PRIMSET_DTYPE(id, code, ...) id = code,
#include "primset/dtypes.def"
#undef PRIMSET_DTYPE
};
inline constexpr int kDTypeCodes = 48;  // codes stay below this: bit sets over dtypes fit 64 bits

// One row per dtype of specs/dtypes.yaml. Sizes are in bits, so that sub-byte types fit.
struct DTypeInfo {
  std::string_view name = "?";        // "f32": Primset's own spelling, used in specs, ids and text
  std::string_view torch_name = "?";  // "float32": as in torch.float32
  std::string_view aten_name = "Undefined";  // "Float": as ATen's ScalarType prints
  std::string_view cpp_name = "?";           // "float": as ATen's messages name the C++ type
  uint16_t bits = 0;
  char kind = '?';          // 'b' bool, 'u' unsigned, 'i' signed, 'f' floating, 'c' complex
  DType real = DType::u8;   // of each part of a complex number; else the dtype itself
  uint8_t dlpack_code = 0;  // DLDataTypeCode
  FloatFormat format;       // of a floating dtype
};

namespace detail {

consteval std::array<DTypeInfo, kDTypeCodes> dtype_table() {
  std::array<DTypeInfo, kDTypeCodes> table{};
#define PRIMSET_DTYPE(id, code, name, torch, aten, cpp, bits, kind, real, dlpack, ...) \
  table[code] = {name, torch, aten, cpp, bits, kind, DType::real, dlpack, __VA_ARGS__};
#include "primset/dtypes.def"
#undef PRIMSET_DTYPE
  return table;
}
inline constexpr std::array<DTypeInfo, kDTypeCodes> kDTypeTable = dtype_table();
inline constexpr DTypeInfo kUnknownDType;

}  // namespace detail

// Of a code that no dtype has: a row of 0 bits.
constexpr const DTypeInfo& info(DType t) {
  const auto code = static_cast<size_t>(t);
  return code < detail::kDTypeTable.size() ? detail::kDTypeTable[code] : detail::kUnknownDType;
}

constexpr std::string_view name(DType t) {
  return info(t).name;
}
// As ATen's messages name the dtype ("Float") and its C++ type ("float").
constexpr std::string_view aten_name(DType t) {
  return info(t).aten_name;
}
constexpr std::string_view cpp_name(DType t) {
  return info(t).cpp_name;
}
constexpr uint16_t bits(DType t) {
  return info(t).bits;
}
constexpr size_t byte_size(DType t) {
  return (info(t).bits + 7u) / 8u;
}
constexpr bool is_floating(DType t) {
  return info(t).kind == 'f';
}
constexpr bool is_complex(DType t) {
  return info(t).kind == 'c';
}
constexpr bool is_bool(DType t) {
  return t == DType::boolean;
}
constexpr bool is_signed_integer(DType t) {
  return info(t).kind == 'i';
}
constexpr bool is_unsigned_integer(DType t) {
  return info(t).kind == 'u';
}
constexpr bool is_integral(DType t) {
  return is_signed_integer(t) || is_unsigned_integer(t);
}
constexpr bool is_half(DType t) {
  return t == DType::f16 || t == DType::bf16;
}

// 8-bit floating dtypes are stored, moved and converted, but not computed with.
constexpr bool is_float8(DType t) {
  return is_floating(t) && bits(t) == 8;
}

// The real type of a complex one (c64 -> f32); a real type itself.
constexpr DType real_type(DType t) {
  return is_complex(t) ? info(t).real : t;
}
// The format of a floating dtype, or of a complex one's parts.
constexpr const FloatFormat& float_format(DType t) {
  return info(real_type(t)).format;
}
// The complex type whose parts hold `t` (f32 -> c64, f64 -> c128, halves -> c64 as Primset
// computes no c32).
constexpr DType complex_type(DType t) {
  return real_type(t) == DType::f64 ? DType::c128 : DType::c64;
}
// ATen's opmath type: what a formula over `t` is computed in before the one rounding back to `t`.
constexpr DType opmath_type(DType t) {
  if (is_floating(t) && bits(t) < 32) return DType::f32;
  return t == DType::c32 ? DType::c64 : t;
}

// Accepts both spellings ("f32", "float32"); empty when unknown.
constexpr std::optional<DType> dtype_from_name(std::string_view s) {
  for (int code = 0; code < kDTypeCodes; ++code) {
    auto t = static_cast<DType>(code);
    if (info(t).bits != 0 && (info(t).name == s || info(t).torch_name == s)) return t;
  }
  return std::nullopt;
}

// A set of dtypes as a bit mask over the codes.
class DTypeSet {
 public:
  constexpr DTypeSet() = default;
  constexpr explicit DTypeSet(uint64_t bits) : bits_(bits) {}
  constexpr DTypeSet(std::initializer_list<DType> list) {
    for (DType t : list) bits_ |= uint64_t{1} << static_cast<int>(t);
  }
  constexpr bool contains(DType t) const { return (bits_ >> static_cast<int>(t)) & 1; }
  constexpr uint64_t mask() const { return bits_; }
  constexpr bool empty() const { return bits_ == 0; }
  friend constexpr DTypeSet operator|(DTypeSet a, DTypeSet b) {
    return DTypeSet(a.bits_ | b.bits_);
  }
  friend constexpr DTypeSet operator&(DTypeSet a, DTypeSet b) {
    return DTypeSet(a.bits_ & b.bits_);
  }
  friend constexpr bool operator==(DTypeSet a, DTypeSet b) = default;

 private:
  uint64_t bits_ = 0;
};

}  // namespace primset

#endif  // PRIMSET_DTYPE_H_
