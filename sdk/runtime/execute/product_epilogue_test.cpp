// Which products of halves are left to kernels for what is done to their sums.
#include "sdk/runtime/execute/product_epilogue.h"

#include <gtest/gtest.h>

#include <string>

#include "prims/graph/text.h"

namespace primset::runtime {
namespace {

constexpr uint32_t kSubgroups = PRIMSET_FEATURE_MATRIX,
                   kGroups = kSubgroups | PRIMSET_FEATURE_GROUP_MATRIX;

// A product of `terms` in `type`, whose sums are then taken by `rest`.
bool is_faster(const std::string& rest, int terms = 64, const std::string& type = "bf16",
               uint32_t features = kGroups, uint32_t format = PRIMSET_FORMAT_PTX) {
  const std::string k = std::to_string(terms);
  const prims::Graph graph = prims::parse(
      "graph(%0 a: " + type + "[8, " + k + "], %1 b: " + type + "[" + k +
      ", 4], %2 c: f32[8, 4]) {\n"
      "  %3: f32[8, 4] = dot_general(%0, %1) {a_contract = (1), b_contract = (0), a_batch = (), "
      "b_batch = (), accumulate = f32}\n" +
      rest + "\n}");
  primset_device_properties device{};
  device.kernel_format = format;
  device.features = features;
  return is_faster_with_epilogue(device, graph, graph.body.nodes[0]);
}

const std::string kAdded =
    "  %4: f32[8, 4] = add(%3, %2)\n"
    "  %5: bf16[8, 4] = convert(%4) {dtype = bf16}\n"
    "  return %5 y";

TEST(ProductEpilogue, OfWhatIsComputedBeforeItIsRounded) {
  EXPECT_TRUE(is_faster(kAdded));
  EXPECT_TRUE(is_faster("  %4: f32[8, 4] = mul(%3, %3)\n  return %4 y"));
  EXPECT_FALSE(is_faster("  return %3 y")) << "nothing follows";
  EXPECT_FALSE(
      is_faster("  %4: bf16[8, 4] = convert(%3) {dtype = bf16}\n"
                "  %5: bf16[8, 4] = add(%4, %4)\n  return %5 y"))
      << "it is rounded first: its bits are those of a product alone";
  EXPECT_FALSE(is_faster("  %4: f32[8, 4] = add(%3, %2)\n  return %4 y, %3 sums"))
      << "the sums are wanted, too";
  EXPECT_FALSE(
      is_faster("  %4: f32[4, 8] = transpose(%3) {permutation = (1, 0)}\n"
                "  %5: f32[8, 4] = add(%3, %2)\n  return %4 y, %5 z"))
      << "the sums are moved, too";
}

TEST(ProductEpilogue, OfHalvesWhereKernelsMultiplyMatrices) {
  EXPECT_TRUE(is_faster(kAdded, 64, "f16"));
  EXPECT_FALSE(is_faster(kAdded, 64, "f32"));
  EXPECT_FALSE(is_faster(kAdded, 64, "bf16", 0));
  EXPECT_FALSE(is_faster(kAdded, 64, "bf16", kGroups, PRIMSET_FORMAT_LLVM_BITCODE));
}

TEST(ProductEpilogue, OfSumsThatAreNotLong) {
  EXPECT_TRUE(is_faster(kAdded, 1024));
  EXPECT_FALSE(is_faster(kAdded, 2048));
  EXPECT_TRUE(is_faster(kAdded, 512, "bf16", kSubgroups));
  EXPECT_FALSE(is_faster(kAdded, 1024, "bf16", kSubgroups));
}

}  // namespace
}  // namespace primset::runtime
