#include "sdk/runtime/plan/layout_class.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace primset::runtime {
namespace {

// One letter a stride: 0, 1, m(erged), s(ymbol).
std::string strides_of(std::vector<int64_t> sizes, std::vector<int64_t> strides) {
  std::vector<DimClass> classes(sizes.size());
  std::vector<uint8_t> order(sizes.size());
  classify(sizes, strides, classes, order);
  std::string out;
  for (const DimClass& c : classes) out += "01ms"[static_cast<int>(c.stride)];
  return out;
}

TEST(LayoutClass, ContiguousFollowsFromSizes) {
  EXPECT_EQ(strides_of({2, 3, 4}, {12, 4, 1}), "mm1");
  EXPECT_EQ(strides_of({5}, {1}), "1");
  EXPECT_EQ(strides_of({}, {}), "");
}

TEST(LayoutClass, PermutedIsMergedInMemoryOrder) {
  EXPECT_EQ(strides_of({3, 2}, {1, 3}), "1m");
  EXPECT_EQ(strides_of({2, 5, 3, 4}, {60, 1, 20, 5}), "m1mm");  // channels last
}

TEST(LayoutClass, SizeOneDimsDoNotBreakTheChain) {
  EXPECT_EQ(strides_of({2, 1, 4, 4}, {16, 1, 4, 1}), "m1m1");
  EXPECT_EQ(strides_of({2, 1, 3}, {3, 3, 1}), "mm1");
}

TEST(LayoutClass, GapsAndExpansion) {
  EXPECT_EQ(strides_of({2, 3}, {10, 1}), "s1");
  EXPECT_EQ(strides_of({2, 3}, {6, 2}), "ms");
  EXPECT_EQ(strides_of({4, 3}, {0, 1}), "01");
  EXPECT_EQ(strides_of({4, 3, 2}, {2, 0, 1}), "m01");
}

TEST(LayoutClass, SizesZeroAndOneAreKnown) {
  std::vector<DimClass> classes(3);
  std::vector<uint8_t> order(3);
  const std::vector<int64_t> sizes = {0, 1, 7}, strides = {7, 7, 1};
  classify(sizes, strides, classes, order);
  EXPECT_EQ(classes[0].size, DimClass::Size::zero);
  EXPECT_EQ(classes[1].size, DimClass::Size::one);
  EXPECT_EQ(classes[2].size, DimClass::Size::symbol);
}

}  // namespace
}  // namespace primset::runtime
