// What a device runs itself is never taken apart, looked through or made part of a kernel.
#include <gtest/gtest.h>

#include <memory>
#include <variant>

#include "codegen/emit/llvm/testing/native_runner.h"
#include "codegen/schedule/schedule.h"
#include "codegen/schedule/testing/program_runner.h"
#include "codegen/schedule/testing/schedule_test_util.h"
#include "prims/graph/text.h"

namespace primset::schedule {
namespace {

// The program of a graph on a device that runs every primitive itself.
Program native_program(const char* text) {
  auto graph = std::make_shared<prims::Graph>(prims::parse(text));
  auto dense = [&](prims::ValueId v) {
    const prims::SymInts& shape = graph->type(v).shape;
    prims::SymInts out(shape.size());
    prims::SymInt stride = 1;
    for (size_t d = shape.size(); d-- > 0;) out[d] = stride, stride *= shape[d];
    return out;
  };
  Options options;
  for (const auto& i : graph->inputs) options.inputs.push_back({dense(i.value)});
  for (const auto& o : graph->outputs) options.outputs.push_back({dense(o.value)});
  options.native = [](const prims::Graph&, prims::NodeId) { return true; };
  return schedule(graph, emit::native_model(), options);
}

void expect_natives(const Program& p, size_t count) {
  EXPECT_EQ(p.kernels.size(), 0u);
  ASSERT_EQ(p.steps.size(), count);
  for (const Step& s : p.steps) EXPECT_TRUE(std::holds_alternative<NativeStep>(s.step));
}

TEST(NativeSteps, AReductionOfSeveralDimsAmongElementwiseOnes) {
  expect_natives(native_program(R"(
symbol s0 = 5 min 2
graph(%0 x: f32[s0, 7], %1 y: f32[]) {
  %2: f32[s0, 7] = neg(%0)
  %3: f32[] = reduce_sum(%2) {dims = (0, 1)}
  %4: f32[] = mul(%3, %1)
  return %4 r
})"),
                 3);
}

TEST(NativeSteps, AReductionOverNoDim) {
  expect_natives(native_program(R"(
graph(%0 x: f32[5, 7]) {
  %1: f32[5, 7] = reduce_sum(%0) {dims = ()}
  return %1 r
})"),
                 1);
}

TEST(NativeSteps, ViewsAsResultsAndAsOperands) {
  expect_natives(native_program(R"(
graph(%0 x: f32[5, 7]) {
  %1: f32[5, 7] = transpose(%0) {permutation = (0, 1)}
  return %1 r
})"),
                 1);
  expect_natives(native_program(R"(
graph(%0 x: f32[5, 7]) {
  %1: f32[7, 5] = transpose(%0) {permutation = (1, 0)}
  %2: f32[7, 5] = neg(%1)
  %3: f32[35] = reshape(%2) {shape = [35]}
  return %3 r
})"),
                 3);
}

// A native product's operand is in memory: what is made of it besides reads it there, and its rows
// are made by one kernel.
TEST(NativeSteps, AnOperandThatOthersUseIsMadeOnce) {
  auto graph = std::make_shared<prims::Graph>(prims::parse(R"(
graph(%0 x: f32[50, 384], %1 w: f32[384, 384]) {
  %2: f32[50] = reduce_sum(%0) {dims = (1)}
  %3: f32[50, 384] = broadcast_in_dim(%2) {shape = [50, 384], dims = (0)}
  %4: f32[50, 384] = sub(%0, %3)
  %5: f32[50, 384] = dot_general(%4, %1) {a_contract = (1), b_contract = (0), a_batch = (), b_batch = (), accumulate = f32}
  %6: f32[50, 384] = add(%4, %5)
  %7: f32[50] = reduce_sum(%6) {dims = (1)}
  %8: f32[50, 384] = broadcast_in_dim(%7) {shape = [50, 384], dims = (0)}
  %9: f32[50, 384] = sub(%6, %8)
  %10: f32[384] = reduce_sum(%9) {dims = (0)}
  return %10 r
})"));
  Options options = row_major_options(*graph);
  options.native = [](const prims::Graph& g, prims::NodeId n) {
    return g.node(n).prim == prims::Prim::dot_general;
  };
  const Program p = schedule(graph, simt_model(), options);
  ASSERT_GE(p.steps.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<NativeStep>(p.steps[1].step)) << print(p);
}

}  // namespace
}  // namespace primset::schedule
