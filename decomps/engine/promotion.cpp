// ATen's type promotion: c10::promoteTypes and result_type's three categories.
#include "decomps/engine/promotion.h"

#include <fmt/format.h>

#include <array>

#include "decomps/engine/tracer.h"

namespace primset::decomps {
namespace {

bool is_wide_unsigned(DType t) {
  return t == DType::u16 || t == DType::u32 || t == DType::u64;
}

[[noreturn]] void unsupported(const char* what, DType a, DType b) {
  fail(ErrorCode::runtime, fmt::format("Promotion for {} Types is not supported, attempted to "
                                       "promote {} and {}",
                                       what, aten_name(a), aten_name(b)));
}

DType promote_integers(DType a, DType b) {
  if (a == DType::u8 || b == DType::u8) {
    const DType other = a == DType::u8 ? b : a;
    return other == DType::i8 ? DType::i16 : other;
  }
  return bits(a) > bits(b) ? a : b;
}

DType promote_floats(DType a, DType b) {
  if (is_half(a) && is_half(b)) return DType::f32;  // f16 with bf16
  return bits(a) > bits(b) ? a : b;
}

// The complex type that holds a value of `t` beside complex ones.
DType complex_part(DType t) {
  if (is_complex(t)) return t;
  if (t == DType::f64) return DType::c128;
  if (t == DType::f32 || t == DType::bf16) return DType::c64;
  return DType::c32;
}

// combine_categories: the higher category decides unless the lower one is of a higher kind.
std::optional<DType> combine(std::optional<DType> higher, std::optional<DType> lower) {
  if (!higher) return lower;
  if (!lower || is_complex(*higher)) return higher;
  if (is_floating(*higher)) {
    if (!is_complex(*lower)) return higher;
    return *higher == DType::f16 ? DType::c32 : complex_type(*higher);
  }
  if (is_bool(*higher) || is_floating(*lower) || is_complex(*lower))
    return promote_types(*higher, *lower);
  return higher;
}

}  // namespace

DType promote_types(DType a, DType b) {
  if (a == b) return a;
  if (is_float8(a) || is_float8(b)) unsupported("Float8", a, b);
  if (is_bool(a)) return b;
  if (is_bool(b)) return a;
  if (is_wide_unsigned(a) || is_wide_unsigned(b)) {
    if (is_floating(a) || is_complex(a)) return a;
    if (is_floating(b) || is_complex(b)) return b;
    fail(ErrorCode::runtime, fmt::format("Promotion for uint16, uint32, uint64 types is not "
                                         "supported, attempted to promote {} and {}",
                                         aten_name(a), aten_name(b)));
  }
  if (is_complex(a) || is_complex(b)) {
    const DType x = complex_part(a), y = complex_part(b);
    return bits(x) > bits(y) ? x : y;
  }
  if (is_floating(a) && is_floating(b)) return promote_floats(a, b);
  if (is_floating(a)) return a;
  if (is_floating(b)) return b;
  return promote_integers(a, b);
}

DType result_type(std::span<const PromotionOperand> operands) {
  std::array<std::optional<DType>, 3> by_category;
  for (const PromotionOperand& o : operands) {
    DType t = o.dtype;
    if (o.category == PromotionOperand::Category::number) {
      if (is_complex(t)) t = DType::c64;
      if (is_floating(t)) t = DType::f32;
    }
    auto& slot = by_category[static_cast<size_t>(o.category)];
    slot = slot ? promote_types(*slot, t) : t;
  }
  const auto result = combine(by_category[0], combine(by_category[1], by_category[2]));
  require(result.has_value(), ErrorCode::internal, "the result type of no operands");
  return *result;
}

bool can_cast(DType from, DType to) {
  auto kind = [](DType t) { return is_complex(t) ? 3 : is_floating(t) ? 2 : is_bool(t) ? 0 : 1; };
  return kind(from) <= kind(to);
}

}  // namespace primset::decomps
