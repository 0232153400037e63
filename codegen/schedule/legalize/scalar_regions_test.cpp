// What the scalar programs become means the same, and holds none any more.
#include "codegen/schedule/legalize/scalar_regions.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "codegen/schedule/legalize/native_bounds.h"
#include "prims/graph/traits.h"
#include "prims/graph/verifier.h"
#include "prims/reference/testing/interpret.h"

namespace primset::schedule {
namespace {

using prims::Graph;
using prims::Prim;
using prims::Region;
using namespace prims::reference;

bool has_scalar_regions(const Graph& g, const Region& r) {
  return std::ranges::any_of(r.nodes, [&](prims::NodeId id) {
    const prims::Node& n = g.node(id);
    return prims::has_scalar_regions(n.prim) ||
           std::ranges::any_of(n.regions,
                               [&](const Region& inner) { return has_scalar_regions(g, inner); });
  });
}

void expect_same_meaning(const char* text, const std::vector<Array>& inputs,
                         const std::vector<int64_t>& symbols = {}) {
  const Graph before = prims::parse(text);
  const Graph after = expand_scalar_regions(before);
  prims::verify_or_throw(after);
  EXPECT_FALSE(has_scalar_regions(after, after.body)) << prims::print(after);
  const Result want = run(before, inputs, symbols), got = run(after, inputs, symbols);
  ASSERT_EQ(got.outputs.size(), want.outputs.size());
  for (size_t i = 0; i < want.outputs.size(); ++i) {
    EXPECT_EQ(got.outputs[i].shape, want.outputs[i].shape);
    EXPECT_EQ(to_bytes(got.outputs[i]), to_bytes(want.outputs[i])) << "output " << i;
  }
}

TEST(ScalarRegions, AMapComputesWholeArrays) {
  expect_same_meaning(
      "graph(%0 x: f32[2, 3], %1 y: f32[2, 3]) {\n"
      "  %6: f32[2, 3], %8: f32[2, 3] = map(%0, %1) region(%2: f32[], %3: f32[]) {\n"
      "    %4: f32[] = mul(%2, %3)\n"
      "    %5: f32[] = constant() {value = #2, dtype = f32, shape = []}\n"
      "    %7: f32[] = add(%4, %5)\n    return %7, %5 }\n"
      "  return %6 y, %8 two\n}",
      {f32({2, 3}, {1, 2, 3, 4, 5, 6}), f32({2, 3}, {7, 8, 9, -1, kInf, kNan})});
}

TEST(ScalarRegions, ALoopEndsForEachElementByItself) {
  expect_same_meaning(
      "graph(%0 x: i64[3]) {\n"
      "  %8: i64[3] = map(%0) region(%1: i64[]) {\n"
      "    %7: i64[] = while_loop(%1)\n"
      "      region(%2: i64[]) { %3: i64[] = constant() {value = #100, dtype = i64, shape = []}\n"
      "        %4: bool[] = lt(%2, %3) return %4 }\n"
      "      region(%5: i64[]) { %6: i64[] = add(%5, %5) return %6 }\n"
      "    return %7 }\n"
      "  return %8 y\n}",
      {integers(DType::i64, {1, 60, 200})});
}

// The doubling of numbers that are not positive would never end.
TEST(ScalarRegions, ALoopInABranchGoesOnForThoseThatTakeIt) {
  expect_same_meaning(
      "graph(%0 x: i64[4]) {\n"
      "  %20: i64[4] = map(%0) region(%1: i64[]) {\n"
      "    %2: i64[] = constant() {value = #0, dtype = i64, shape = []}\n"
      "    %3: bool[] = lt(%2, %1)\n"
      "    %13: i64[] = cond(%3, %1)\n"
      "      region(%4: i64[]) {\n"
      "        %10: i64[] = while_loop(%4)\n"
      "          region(%5: i64[]) { %6: i64[] = constant() {value = #99, dtype = i64, shape = "
      "[]}\n"
      "            %7: bool[] = lt(%5, %6) return %7 }\n"
      "          region(%8: i64[]) { %9: i64[] = add(%8, %8) return %9 }\n"
      "        return %10 }\n"
      "      region(%11: i64[]) { %12: i64[] = neg(%11) return %12 }\n"
      "    return %13 }\n"
      "  return %20 y\n}",
      {integers(DType::i64, {-3, 0, 1, 70})});
}

TEST(ScalarRegions, ACountedLoopOfNumbersIsOneOfArrays) {
  expect_same_meaning(
      "graph(%0 x: i64[2]) {\n"
      "  %12: i64[2] = map(%0) region(%1: i64[]) {\n"
      "    %5: i64[] = for_loop(%1) {count = <3>, stacked = 0} region(%2: i64[], %3: i64[]) {\n"
      "      %4: i64[] = add(%3, %2) return %4 }\n"
      "    return %5 }\n"
      "  return %12 y\n}",
      {integers(DType::i64, {10, -1})});
}

constexpr const char* kLargestWithIndex =
    "symbol n = 3 min 0\n"
    "graph(%0 x: f32[2, n], %1 i: i64[2, n]) {\n"
    "  %2: f32[] = constant() {value = #-inf, dtype = f32, shape = []}\n"
    "  %3: i64[] = constant() {value = #0, dtype = i64, shape = []}\n"
    "  %11: f32[2], %12: i64[2] = reduce(%0, %1, %2, %3) {dims = (1)}\n"
    "    region(%4: f32[], %5: i64[], %6: f32[], %7: i64[]) {\n"
    "      %8: bool[] = lt(%4, %6)\n"
    "      %9: f32[] = select(%8, %6, %4)\n"
    "      %10: i64[] = select(%8, %7, %5)\n"
    "      return %9, %10 }\n"
    "  return %11 value, %12 index\n}";

TEST(ScalarRegions, AReductionGoesFromSliceToSlice) {
  Array at = make_array(DType::i64, {2, 3});
  for (size_t k = 0; k < 6; ++k) at.data[k].integer = static_cast<int64_t>(k % 3);
  expect_same_meaning(kLargestWithIndex, {f32({2, 3}, {1, 5, 2, 7, 0, 7}), at}, {3});
  expect_same_meaning(kLargestWithIndex, {f32({2, 0}, {}), make_array(DType::i64, {2, 0})}, {0});
}

TEST(ScalarRegions, OfNothingIsTheNeutralElement) {
  expect_same_meaning(
      "graph(%0 x: f32[0, 2], %1 one: f32[]) {\n"
      "  %5: f32[2] = reduce(%0, %1) {dims = (0)} region(%2: f32[], %3: f32[]) {\n"
      "    %4: f32[] = mul(%2, %3) return %4 }\n"
      "  %9: f32[0, 2] = scan(%0, %1) {dim = 0, ordered = false} region(%6: f32[], %7: f32[]) {\n"
      "    %8: f32[] = mul(%6, %7) return %8 }\n"
      "  return %5 y, %9 prefixes\n}",
      {f32({0, 2}, {}), f32({}, {1})});
}

TEST(ScalarRegions, AScanKeepsEveryStep) {
  expect_same_meaning(
      "graph(%0 x: i64[2, 3, 2], %1 one: i64[]) {\n"
      "  %5: i64[2, 3, 2] = scan(%0, %1) {dim = 1, ordered = false} region(%2: i64[], %3: i64[]) "
      "{\n"
      "    %4: i64[] = mul(%2, %3) return %4 }\n"
      "  return %5 y\n}",
      {[] {
         Array x = make_array(DType::i64, {2, 3, 2});
         for (size_t k = 0; k < x.data.size(); ++k) x.data[k].integer = static_cast<int64_t>(k) - 3;
         return x;
       }(),
       array(DType::i64, {}, {1})});
}

// --- bounds -------------------------------------------------------------------------------------

constexpr const char* kGather =
    "graph(%0 x: f32[4], %1 index: i64[2]) {\n"
    "  %2: f32[2] = gather(%0, %1) {dims = (0), in_bounds = false, argument = \"index\"}\n"
    "  return %2 y\n}";

size_t checks(const Graph& g) {
  return static_cast<size_t>(std::ranges::count_if(
      g.body.nodes, [&](prims::NodeId id) { return g.node(id).prim == Prim::check; }));
}

TEST(NativeBounds, IndicesOfNativeGathersAreChecked) {
  const Graph before = prims::parse(kGather);
  const Graph after = with_bounds_checks(
      before, [](const Graph& g, prims::NodeId id) { return g.node(id).prim == Prim::gather; });
  prims::verify_or_throw(after);
  EXPECT_EQ(checks(after), 1u);
  const Result right =
      run(after, std::vector<Array>{f32({4}, {1, 2, 3, 4}), integers(DType::i64, {3, 0})}, {});
  EXPECT_TRUE(right.failures.empty());
  for (int64_t outside : {int64_t{4}, int64_t{-1}, INT64_MIN}) {
    Array index = integers(DType::i64, {0, 0});
    index.data[1].integer = outside;
    const Result wrong = run(after, std::vector<Array>{f32({4}, {1, 2, 3, 4}), index}, {});
    ASSERT_FALSE(wrong.failures.empty());
    EXPECT_EQ(wrong.failures[0].message,
              "index " + std::to_string(outside) +
                  " of 'index' is out of bounds for dimension 0; expected one within its size");
  }
}

TEST(NativeBounds, KernelsCheckForThemselves) {
  const Graph before = prims::parse(kGather);
  EXPECT_EQ(checks(with_bounds_checks(before, [](const Graph&, prims::NodeId) { return false; })),
            0u);
}

}  // namespace
}  // namespace primset::schedule
