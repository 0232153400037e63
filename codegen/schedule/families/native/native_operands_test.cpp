// What a native primitive reads through views of an input needs no copy.
#include <gtest/gtest.h>

#include <memory>
#include <variant>

#include "codegen/emit/llvm/testing/native_runner.h"
#include "codegen/schedule/schedule.h"
#include "codegen/schedule/testing/schedule_test_util.h"
#include "prims/graph/text.h"

namespace primset::schedule {
namespace {

using prims::SymInt;
using prims::SymInts;

// The program of a graph whose products the device runs itself.
Program product_program(const char* text) {
  auto graph = std::make_shared<prims::Graph>(prims::parse(text));
  Options options;
  for (auto& i : graph->inputs) options.inputs.push_back({row_major(graph->type(i.value).shape)});
  for (auto& o : graph->outputs) options.outputs.push_back({row_major(graph->type(o.value).shape)});
  options.native = [](const prims::Graph& g, prims::NodeId id) {
    return g.node(id).prim == prims::Prim::dot_general;
  };
  return schedule(graph, emit::native_model(), options);
}

TEST(PlacedViews, ReshapedInputOfAProduct) {
  const Program p = product_program(R"(
symbol s0 = 5 min 2
symbol s1 = 7 min 2
graph(%0 x: f32[s0, s1, 8], %1 w: f32[4, 8]) {
  %2: f32[s0*s1, 8] = reshape(%0) {shape = [s0*s1, 8]}
  %3: f32[s0*s1, 4] = dot_general(%2, %1) {a_contract = (1), b_contract = (1), a_batch = (), b_batch = (), accumulate = f32}
  %4: f32[s0, s1, 4] = reshape(%3) {shape = [s0, s1, 4]}
  return %4 r
})");
  ASSERT_EQ(p.steps.size(), 1u);
  const auto& step = std::get<NativeStep>(p.steps[0].step);
  EXPECT_EQ(step.operands[0].sizes.size(), 2u);
  EXPECT_TRUE(step.operands[0].strides[0].same(8));
}

TEST(PlacedViews, HeadsOfAProjection) {
  const Program p = product_program(R"(
symbol s0 = 5 min 2
symbol s1 = 7 min 2
graph(%0 x: f32[s0, s1, 24]) {
  %1: f32[s0, s1, 3, 2, 4] = reshape(%0) {shape = [s0, s1, 3, 2, 4]}
  %2: f32[3, s0, 2, s1, 4] = transpose(%1) {permutation = (2, 0, 3, 1, 4)}
  %3: f32[1, s0, 2, s1, 4] = slice(%2) {start = [0, 0, 0, 0, 0], limit = [1, s0, 2, s1, 4], stride = [1, 1, 1, 1, 1]}
  %4: f32[s0, 2, s1, 4] = reshape(%3) {shape = [s0, 2, s1, 4]}
  %5: f32[1, s0, 2, s1, 4] = slice(%2) {start = [1, 0, 0, 0, 0], limit = [2, s0, 2, s1, 4], stride = [1, 1, 1, 1, 1]}
  %6: f32[s0, 2, s1, 4] = reshape(%5) {shape = [s0, 2, s1, 4]}
  %7: f32[s0, 2, s1, s1] = dot_general(%4, %6) {a_contract = (3), b_contract = (3), a_batch = (0, 1), b_batch = (0, 1), accumulate = f32}
  return %7 r
})");
  ASSERT_EQ(p.steps.size(), 1u);
  const auto& step = std::get<NativeStep>(p.steps[0].step);
  const SymInt tokens = step.operands[0].sizes[2];
  const SymInt strides[] = {tokens * 24, 4, 24, 1};
  for (const auto& operand : step.operands) {
    for (size_t d = 0; d < 4; ++d) EXPECT_TRUE(operand.strides[d].same(strides[d])) << d;
  }
  EXPECT_TRUE(step.operands[0].offset.same(0));
  EXPECT_TRUE(step.operands[1].offset.same(8));
}

// Dims that do not lie one in another cannot be merged by strides: here a copy is right.
TEST(PlacedViews, ATransposedMergeIsCopied) {
  const Program p = product_program(R"(
symbol s0 = 5 min 2
graph(%0 x: f32[s0, 6, 8], %1 w: f32[4, 8]) {
  %2: f32[6, s0, 8] = transpose(%0) {permutation = (1, 0, 2)}
  %3: f32[6*s0, 8] = reshape(%2) {shape = [6*s0, 8]}
  %4: f32[6*s0, 4] = dot_general(%3, %1) {a_contract = (1), b_contract = (1), a_batch = (), b_batch = (), accumulate = f32}
  return %4 r
})");
  ASSERT_EQ(p.steps.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<LaunchStep>(p.steps[0].step));
  EXPECT_TRUE(std::holds_alternative<NativeStep>(p.steps[1].step));
}

}  // namespace
}  // namespace primset::schedule
