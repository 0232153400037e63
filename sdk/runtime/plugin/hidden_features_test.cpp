#include "sdk/runtime/plugin/hidden_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <primset/error.h>

namespace primset::plugin {
namespace {

TEST(HiddenFeatures, TakeTheirDtypesWithThem) {
  primset_device_properties p{};
  p.features = PRIMSET_FEATURE_F64 | PRIMSET_FEATURE_I64 | PRIMSET_FEATURE_ATOMIC_I64;
  p.dtypes = PRIMSET_DTYPES_ALL;
  hide_features("f64,i64", p);
  EXPECT_EQ(p.features, 0u);
  for (const uint32_t t : {PRIMSET_F64, PRIMSET_C128, PRIMSET_I64, PRIMSET_U64})
    EXPECT_EQ(p.dtypes >> t & 1, 0u) << t;
  EXPECT_EQ(p.dtypes >> PRIMSET_F32 & 1, 1u);
  hide_features("", p);
}

TEST(HiddenFeatures, WithoutI64ThereIsNoF64) {
  primset_device_properties p{};
  p.features = PRIMSET_FEATURE_F64 | PRIMSET_FEATURE_I64 | PRIMSET_FEATURE_F16;
  p.dtypes = PRIMSET_DTYPES_ALL;
  hide_features("i64", p);
  EXPECT_EQ(p.features, uint32_t{PRIMSET_FEATURE_F16});
  EXPECT_EQ(p.dtypes >> PRIMSET_F64 & 1, 0u);
}

TEST(HiddenFeatures, AWrongNameIsToldWithThoseThatThereAre) {
  primset_device_properties p{};
  try {
    hide_features("f64,f63", p);
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("PRIMSET_HIDE: 'f63'"));
    EXPECT_THAT(e.what(), testing::HasSubstr("f64, i64, f16"));
  }
}

}  // namespace
}  // namespace primset::plugin
