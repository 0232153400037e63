// Element types. The codes are ATen's ScalarType codes, so that a number read from a PyTorch
// schema, a plugin or a spec bundle means the same everywhere; they never change.
#ifndef PRIMSET_DTYPE_H_
#define PRIMSET_DTYPE_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace primset {

enum class DType : uint8_t {
  u8 = 0,
  i8 = 1,
  i16 = 2,
  i32 = 3,
  i64 = 4,
  f16 = 5,
  f32 = 6,
  f64 = 7,
  c32 = 8,  // a pair of f16; declared, not yet computed with
  c64 = 9,
  c128 = 10,
  boolean = 11,
  bf16 = 15,
  f8_e5m2 = 23,
  f8_e4m3fn = 24,
  u16 = 27,
  u32 = 28,
  u64 = 29,
};
inline constexpr int kDTypeCodes = 48;  // codes stay below this: bit sets over dtypes fit 64 bits

// One row per dtype that Primset computes with. Sizes are in bits, so that sub-byte types fit.
struct DTypeInfo {
  std::string_view name;        // "f32": Primset's own spelling, used in specs, ids and text forms
  std::string_view torch_name;  // "float32": as in torch.float32
  uint16_t bits;
  char kind;  // 'b' bool, 'u' unsigned, 'i' signed, 'f' floating, 'c' complex
};

constexpr DTypeInfo info(DType t) {
  switch (t) {
    case DType::u8:
      return {"u8", "uint8", 8, 'u'};
    case DType::i8:
      return {"i8", "int8", 8, 'i'};
    case DType::i16:
      return {"i16", "int16", 16, 'i'};
    case DType::i32:
      return {"i32", "int32", 32, 'i'};
    case DType::i64:
      return {"i64", "int64", 64, 'i'};
    case DType::f16:
      return {"f16", "float16", 16, 'f'};
    case DType::f32:
      return {"f32", "float32", 32, 'f'};
    case DType::f64:
      return {"f64", "float64", 64, 'f'};
    case DType::c32:
      return {"c32", "complex32", 32, 'c'};
    case DType::c64:
      return {"c64", "complex64", 64, 'c'};
    case DType::c128:
      return {"c128", "complex128", 128, 'c'};
    case DType::boolean:
      return {"bool", "bool", 8, 'b'};
    case DType::bf16:
      return {"bf16", "bfloat16", 16, 'f'};
    case DType::f8_e5m2:
      return {"f8_e5m2", "float8_e5m2", 8, 'f'};
    case DType::f8_e4m3fn:
      return {"f8_e4m3fn", "float8_e4m3fn", 8, 'f'};
    case DType::u16:
      return {"u16", "uint16", 16, 'u'};
    case DType::u32:
      return {"u32", "uint32", 32, 'u'};
    case DType::u64:
      return {"u64", "uint64", 64, 'u'};
  }
  return {"?", "?", 0, '?'};
}

constexpr std::string_view name(DType t) {
  return info(t).name;
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

// The real type of a complex one (c64 -> f32); a real type itself.
constexpr DType real_type(DType t) {
  switch (t) {
    case DType::c32:
      return DType::f16;
    case DType::c64:
      return DType::f32;
    case DType::c128:
      return DType::f64;
    default:
      return t;
  }
}
// The complex type whose parts hold `t` (f32 -> c64, f64 -> c128, halves -> c64 as Primset
// computes no c32).
constexpr DType complex_type(DType t) {
  switch (t) {
    case DType::f64:
    case DType::c128:
      return DType::c128;
    default:
      return DType::c64;
  }
}
// ATen's opmath type: what a formula over `t` is computed in before the one rounding back to `t`.
constexpr DType opmath_type(DType t) {
  switch (t) {
    case DType::f16:
    case DType::bf16:
    case DType::f8_e5m2:
    case DType::f8_e4m3fn:
      return DType::f32;
    case DType::c32:
      return DType::c64;
    default:
      return t;
  }
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
