// Loops of few elements, which one workgroup of a SIMT device runs by itself.
#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "codegen/schedule/schedule.h"
#include "codegen/schedule/testing/program_runner.h"
#include "codegen/schedule/testing/schedule_test_util.h"
#include "prims/graph/text.h"
#include "prims/graph/verifier.h"

namespace primset::schedule {
namespace {

kir::TargetModel loop_groups(uint32_t most_threads) {
  kir::TargetModel target = simt_model();
  target.max_group_threads = most_threads;
  return target;
}

// Each iteration reads what the one before made of an element's neighbours, and a row of another
// array that it counts; its results are stacked. Two values go from one iteration to the next.
std::shared_ptr<prims::Graph> neighbours(int64_t rows, int64_t n) {
  const std::string text =
      "symbol s0 = " + std::to_string(rows) + " min 1\nsymbol s1 = " + std::to_string(n) + R"( min 2
graph(%0 x: f32[s0, s1], %1 y: i64[s1], %2 z: f32[s1]) {
  %3: f32[s1], %4: i64[s1], %5: f32[s0, s1] = for_loop(%2, %1) {count = <s0>, stacked = 1} region(%6: i64[], %7: f32[s1], %8: i64[s1]) {
    %9: i64[] = constant() {value = #0, dtype = i64, shape = []}
    %10: f32[1, s1] = dynamic_slice(%0, %6, %9) {sizes = [1, s1]}
    %11: f32[s1] = reshape(%10) {shape = [s1]}
    %12: f32[] = constant() {value = #0.5, dtype = f32, shape = []}
    %13: f32[s1 + 1] = pad(%7, %12) {low = [1], high = [0], interior = [0]}
    %14: f32[s1] = slice(%13) {start = [0], limit = [s1], stride = [1]}
    %15: f32[s1] = exp(%2)
    %16: f32[s1] = max(%14, %11)
    %17: f32[s1] = mul(%16, %15)
    %18: i64[s1] = add(%8, %1)
    %19: f32[s1] = convert(%18) {dtype = f32}
    %20: f32[s1] = add(%17, %19)
    return %20, %18, %17
  }
  return %3 a, %4 b, %5 c
}
)";
  const auto graph = std::make_shared<prims::Graph>(prims::parse(text));
  EXPECT_TRUE(prims::verify(*graph).empty()) << prims::verify(*graph)[0];
  return graph;
}

bool has_loop(const Program& program) {
  for (const Step& step : program.steps)
    if (std::holds_alternative<LoopStep>(step.step)) return true;
  return false;
}

// One element a thread and several, threads that have none, and one iteration alone.
TEST(GroupLoop, OfNeighbours) {
  const kir::TargetModel target = loop_groups(64);
  for (int64_t rows : {1, 2, 7}) {
    for (int64_t n : {2, 64, 70, 200}) {
      const auto graph = neighbours(rows, n);
      const Options options = row_major_options(*graph);
      const Program program = schedule(graph, target, options);
      EXPECT_FALSE(has_loop(program));
      check_program(*graph, program, options, target, {rows, n},
                    {std::to_string(rows) + " of " + std::to_string(n)});
      if (HasFatalFailure()) return;
    }
  }
}

TEST(GroupLoop, IsLaunchedWhereItIsLarge) {
  const auto loops = [](int64_t rows, int64_t n, const kir::TargetModel& target) {
    const auto graph = neighbours(rows, n);
    return has_loop(schedule(graph, target, row_major_options(*graph)));
  };
  kir::TargetModel target = loop_groups(1024);
  target.group_memory = 1 << 17;
  EXPECT_FALSE(loops(4, 2000, target));
  EXPECT_TRUE(loops(4, 5000, target));
  target.group_memory = 1 << 14;
  EXPECT_TRUE(loops(4, 2000, target));
  // A driver that ends long loops.
  target = loop_groups(1024);
  target.loop_limit = 1000;
  EXPECT_FALSE(loops(100, 70, target));
  EXPECT_TRUE(loops(1000, 70, target));
}

}  // namespace
}  // namespace primset::schedule
