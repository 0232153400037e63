// Promotion against torch.promote_types and torch.result_type.
#include <gtest/gtest.h>

#include <array>

#include "decomps/engine/promotion.h"
#include "primset/error.h"

namespace primset::decomps {
namespace {

using enum DType;
using Category = PromotionOperand::Category;

constexpr std::array kTypes = {u8, i8, i16, i32, i64, f16, bf16, f32, f64, c64, c128, boolean};

TEST(Promotion, EveryPairAsPyTorch) {
  const DType table[12][12] = {
      {u8, i16, i16, i32, i64, f16, bf16, f32, f64, c64, c128, u8},
      {i16, i8, i16, i32, i64, f16, bf16, f32, f64, c64, c128, i8},
      {i16, i16, i16, i32, i64, f16, bf16, f32, f64, c64, c128, i16},
      {i32, i32, i32, i32, i64, f16, bf16, f32, f64, c64, c128, i32},
      {i64, i64, i64, i64, i64, f16, bf16, f32, f64, c64, c128, i64},
      {f16, f16, f16, f16, f16, f16, f32, f32, f64, c64, c128, f16},
      {bf16, bf16, bf16, bf16, bf16, f32, bf16, f32, f64, c64, c128, bf16},
      {f32, f32, f32, f32, f32, f32, f32, f32, f64, c64, c128, f32},
      {f64, f64, f64, f64, f64, f64, f64, f64, f64, c128, c128, f64},
      {c64, c64, c64, c64, c64, c64, c64, c64, c128, c64, c128, c64},
      {c128, c128, c128, c128, c128, c128, c128, c128, c128, c128, c128, c128},
      {u8, i8, i16, i32, i64, f16, bf16, f32, f64, c64, c128, boolean},
  };
  for (size_t a = 0; a < kTypes.size(); ++a) {
    for (size_t b = 0; b < kTypes.size(); ++b)
      EXPECT_EQ(promote_types(kTypes[a], kTypes[b]), table[a][b])
          << name(kTypes[a]) << " " << name(kTypes[b]);
  }
}

DType of(std::initializer_list<PromotionOperand> operands) {
  return result_type(std::vector<PromotionOperand>(operands));
}

TEST(Promotion, CategoriesRank) {
  constexpr auto dim = Category::dimensioned, zero = Category::zero_dim, num = Category::number;
  EXPECT_EQ(of({{i32, dim}, {i64, zero}}), i32);
  EXPECT_EQ(of({{i32, dim}, {f64, zero}}), f64);
  EXPECT_EQ(of({{f16, dim}, {f64, zero}}), f16);
  EXPECT_EQ(of({{u8, dim}, {i64, num}}), u8);
  EXPECT_EQ(of({{u8, dim}, {f64, num}}), f32);
  EXPECT_EQ(of({{boolean, dim}, {i64, num}}), i64);
  EXPECT_EQ(of({{f64, zero}, {c128, num}}), c128);
  EXPECT_EQ(of({{f32, dim}, {c128, num}}), c64);
  EXPECT_EQ(of({{bf16, dim}, {c128, num}}), c64);
  EXPECT_EQ(of({{i64, num}, {f64, num}}), f32);
  EXPECT_EQ(of({{f16, dim}, {bf16, dim}}), f32);
}

TEST(Promotion, WideUnsignedIntegersDoNotMixWithIntegers) {
  EXPECT_EQ(promote_types(u32, f32), f32);
  EXPECT_THROW(promote_types(u32, i64), Error);
}

}  // namespace
}  // namespace primset::decomps
