// plugin.h is C++20 too, with the same layout as in C; and the values of its constants never
// change.
#include <gtest/gtest.h>
#include <primset/dtype.h>

#include "sdk/runtime/plugin/abi_layout.h"

namespace {

TEST(PluginAbi, ConstantsKeepTheirValues) {
  EXPECT_EQ(PRIMSET_ABI_VERSION, 1u);
  EXPECT_EQ(PRIMSET_INVALID_ARGUMENT, 1);
  EXPECT_EQ(PRIMSET_INTERNAL, 6);
  EXPECT_EQ(PRIMSET_FORMAT_SPIRV_KERNEL, 5);
  EXPECT_EQ(PRIMSET_FEATURE_INT16, 1u << 6);
  EXPECT_EQ(PRIMSET_FEATURE_ASYNC_COPY, 1u << 8);
  EXPECT_EQ(PRIMSET_FEATURE_MATRIX, 1u << 9);
  EXPECT_EQ(PRIMSET_FEATURE_BALLOT, 1u << 10);
  EXPECT_EQ(PRIMSET_FEATURE_GROUP_MATRIX, 1u << 11);
  EXPECT_EQ(PRIMSET_FEATURE_COOPERATIVE_F16, 1u << 12);
  EXPECT_EQ(PRIMSET_FEATURE_COOPERATIVE_BF16, 1u << 13);
  EXPECT_EQ(PRIMSET_FEATURE_IN_ORDER, 1u << 14);
  EXPECT_EQ(PRIMSET_FEATURE_CACHE_POLICIES, 1u << 15);
  EXPECT_EQ(PRIMSET_FEATURE_EARLY_START, 1u << 16);
  EXPECT_EQ(PRIMSET_NUMERIC_KEEP_NAN_INF, 1u << 4);
  EXPECT_EQ(PRIMSET_NUMERIC_FAST_EXP2, 1u << 5);
  EXPECT_STREQ(PRIMSET_EXT_HOST_MEMORY, "primset.host_memory/1");
  EXPECT_STREQ(PRIMSET_EXT_PINNED_MEMORY, "primset.pinned_memory/1");
  EXPECT_STREQ(PRIMSET_EXT_PEER_COPY, "primset.peer_copy/1");
  EXPECT_STREQ(PRIMSET_EXT_DEVICE_ADDRESS, "primset.device_address/1");
  EXPECT_STREQ(PRIMSET_EXT_PRIMITIVES, "primset.primitives/1");
}

TEST(PluginAbi, ElementTypesAreThoseOfTheSdk) {
  using primset::DType;
  EXPECT_EQ(PRIMSET_U8, static_cast<int>(DType::u8));
  EXPECT_EQ(PRIMSET_I8, static_cast<int>(DType::i8));
  EXPECT_EQ(PRIMSET_I16, static_cast<int>(DType::i16));
  EXPECT_EQ(PRIMSET_I32, static_cast<int>(DType::i32));
  EXPECT_EQ(PRIMSET_I64, static_cast<int>(DType::i64));
  EXPECT_EQ(PRIMSET_F16, static_cast<int>(DType::f16));
  EXPECT_EQ(PRIMSET_F32, static_cast<int>(DType::f32));
  EXPECT_EQ(PRIMSET_F64, static_cast<int>(DType::f64));
  EXPECT_EQ(PRIMSET_C64, static_cast<int>(DType::c64));
  EXPECT_EQ(PRIMSET_C128, static_cast<int>(DType::c128));
  EXPECT_EQ(PRIMSET_BOOL, static_cast<int>(DType::boolean));
  EXPECT_EQ(PRIMSET_BF16, static_cast<int>(DType::bf16));
}

}  // namespace
