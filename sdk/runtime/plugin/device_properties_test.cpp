#include "sdk/runtime/plugin/device_properties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <primset/error.h>

namespace primset::plugin {
namespace {

primset_device_properties with_features(uint32_t features) {
  primset_device_properties p{};
  p.kernel_format = PRIMSET_FORMAT_NATIVE_IMAGE;
  p.memory_alignment = 64;
  p.dtypes = uint64_t{1} << PRIMSET_F32;
  p.max_param_bytes = 4096;
  p.threads = 1;
  for (uint32_t& n : p.max_groups) n = 1;
  p.features = features;
  return p;
}

TEST(DeviceProperties, WhatNeedsI64ComesWithIt) {
  for (const uint32_t f : {uint32_t{PRIMSET_FEATURE_F64}, uint32_t{PRIMSET_FEATURE_ATOMIC_I64}}) {
    EXPECT_NO_THROW(check_properties(with_features(f | PRIMSET_FEATURE_I64), "here"));
    try {
      check_properties(with_features(f), "here");
      ADD_FAILURE();
    } catch (const Error& e) {
      EXPECT_THAT(e.what(), testing::HasSubstr("expected PRIMSET_FEATURE_I64 where there is"));
    }
  }
  EXPECT_NO_THROW(check_properties(with_features(0), "here"));
}

}  // namespace
}  // namespace primset::plugin
