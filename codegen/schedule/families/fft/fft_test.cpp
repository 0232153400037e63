// The kernels of transforms against the sums of their definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "codegen/emit/llvm/testing/native_runner.h"
#include "codegen/schedule/families/fft/fft_plan.h"
#include "codegen/schedule/families/fft/radices.h"
#include "codegen/schedule/schedule.h"
#include "codegen/schedule/testing/program_runner.h"
#include "codegen/schedule/testing/schedule_test_util.h"
#include "prims/graph/text.h"

namespace primset::schedule {
namespace {

struct FftCall {
  DType dtype = DType::c64;
  int64_t outer = 1, n = 1, inner = 1;
  bool forward = true;
};

std::string input(const FftCall& c, const std::string& type) {
  return "symbol s0 = " + std::to_string(c.outer) + "\nsymbol s1 = " + std::to_string(c.inner) +
         "\ngraph(%0 x: " + type + ") {\n";
}

std::shared_ptr<prims::Graph> graph_of(const FftCall& c) {
  const std::string t(name(c.dtype)), n = std::to_string(c.n);
  const std::string type = t + "[s0, " + n + (c.inner > 1 ? ", s1]" : "]");
  return std::make_shared<prims::Graph>(
      prims::parse(input(c, type) + "  %1: " + type + " = fft_c2c(%0) {dims = (1), forward = " +
                   (c.forward ? "true" : "false") + "}\n  return %1 y\n}\n"));
}

// Of n real values, or back.
std::shared_ptr<prims::Graph> real_graph_of(const FftCall& c) {
  const std::string n = std::to_string(c.n);
  const std::string whole = std::string(name(real_type(c.dtype))) + "[s0, " + n + "]";
  const std::string half = std::string(name(c.dtype)) + "[s0, " + std::to_string(c.n / 2 + 1) + "]";
  const std::string there = half + " = fft_r2c(%0) {dims = (1)}",
                    back = whole + " = fft_c2r(%0) {dims = (1), n = " + n + "}";
  return std::make_shared<prims::Graph>(prims::parse(input(c, c.forward ? whole : half) +
                                                     "  %1: " + (c.forward ? there : back) +
                                                     "\n  return %1 y\n}\n"));
}

void expect_transform(const Machine& machine, const FftCall& c, FftPlan::Kind kind) {
  const bool real = kind == FftPlan::Kind::to_half || kind == FftPlan::Kind::from_half;
  const auto graph = real ? real_graph_of(c) : graph_of(c);
  const auto plan = fft_plan(*graph, graph->node(graph->body.nodes[0]), machine);
  ASSERT_TRUE(plan.has_value()) << c.n;
  EXPECT_EQ(plan->kind, kind) << c.n;
  const Options options = row_major_options(*graph);
  const Program program = schedule(graph, machine, options);
  EXPECT_EQ(program.kernels.size(), kind == FftPlan::Kind::two_passes ? 2u : 1u);
  CheckedRun run;
  run.name = std::to_string(c.outer) + " x " + std::to_string(c.n) + " x " +
             std::to_string(c.inner) + " " + std::string(name(c.dtype));
  check_program(*graph, program, options, machine.target, {c.outer, c.inner}, run);
}

kir::TargetModel cpu(uint32_t vector_bytes) {
  kir::TargetModel t = emit::native_model();
  t.vector_bytes = std::min(t.vector_bytes, vector_bytes);
  return t;
}

TEST(FftKernels, LanesAreTransforms) {
  for (uint32_t bytes : {16u, 32u, 64u}) {
    const Machine machine(cpu(bytes));
    for (int64_t n : {2, 3, 4, 5, 7, 8, 12, 36, 100, 105, 512})
      expect_transform(machine, {DType::c64, 2, n, 19, n % 2 == 0}, FftPlan::Kind::across);
    expect_transform(machine, {DType::c128, 3, 60, 5}, FftPlan::Kind::across);
    expect_transform(machine, {DType::c64, 21, 243, 1}, FftPlan::Kind::across);
  }
}

TEST(FftKernels, LanesArePartsOfOne) {
  for (uint32_t bytes : {16u, 32u, 64u}) {
    const Machine machine(cpu(bytes));
    for (int64_t n : {16, 20, 64, 200, 256, 1024, 1400})
      expect_transform(machine, {DType::c64, 3, n, 1, n % 3 == 0}, FftPlan::Kind::within);
    expect_transform(machine, {DType::c128, 2, 480, 1}, FftPlan::Kind::within);
  }
}

TEST(FftKernels, OfRealValuesAndBack) {
  for (uint32_t bytes : {16u, 32u, 64u}) {
    const Machine machine(cpu(bytes));
    for (int64_t n : {32, 40, 128, 400, 2048}) {
      expect_transform(machine, {DType::c64, 3, n, 1, true}, FftPlan::Kind::to_half);
      expect_transform(machine, {DType::c64, 3, n, 1, false}, FftPlan::Kind::from_half);
    }
    expect_transform(machine, {DType::c128, 2, 240, 1, true}, FftPlan::Kind::to_half);
    expect_transform(machine, {DType::c128, 2, 240, 1, false}, FftPlan::Kind::from_half);
  }
}

TEST(FftKernels, InTwoPasses) {
  Machine machine(cpu(64));
  machine.tuning.fft.line_bytes = 1024;
  for (int64_t n : {256, 1024, 768})
    expect_transform(machine, {DType::c64, 2, n, 1, n != 768}, FftPlan::Kind::two_passes);
  expect_transform(machine, {DType::c128, 2, 640, 3}, FftPlan::Kind::two_passes);
}

TEST(FftKernels, ByWorkgroups) {
  const Machine machine(simt_model());
  for (int64_t n : {2, 3, 5, 7, 8, 30, 64, 105, 512})
    expect_transform(machine, {DType::c64, 7, n, n < 64 ? 3 : 1, n % 2 == 0}, FftPlan::Kind::group);
  expect_transform(machine, {DType::c128, 2, 96, 1}, FftPlan::Kind::group);
}

TEST(FftKernels, OtherLengthsAreDecomposed) {
  const Machine machine(simt_model());
  for (int64_t n : {11, 1, 67, 1 << 20}) {
    const auto graph = graph_of({DType::c64, 2, n, 1});
    EXPECT_FALSE(fft_plan(*graph, graph->node(graph->body.nodes[0]), machine)) << n;
  }
}

TEST(FftKernels, Radices) {
  EXPECT_EQ(radices_of(1024), (std::vector<int64_t>{8, 8, 4, 4}));
  EXPECT_EQ(radices_of(60), (std::vector<int64_t>{5, 3, 4}));
  EXPECT_TRUE(radices_of(1).empty());
  EXPECT_FALSE(is_smooth(22));
  EXPECT_EQ(split_near_root(1 << 20, 16).first, 1024);
  EXPECT_EQ(split_near_root(24, 16).first, 0);
}

}  // namespace
}  // namespace primset::schedule
