// Columns of a SIMT device, each of them several threads' where one thread each would be too few.
#include <gtest/gtest.h>

#include <string>

#include "codegen/schedule/schedule.h"
#include "codegen/schedule/testing/program_runner.h"
#include "codegen/schedule/testing/schedule_test_util.h"
#include "prims/graph/text.h"
#include "prims/graph/verifier.h"

namespace primset::schedule {
namespace {

kir::TargetModel column_groups() {
  kir::TargetModel target = simt_model();
  target.group_threads = 256;
  target.max_group_threads = 1024;
  return target;
}

std::shared_ptr<prims::Graph> parsed(const std::string& text) {
  auto graph = std::make_shared<prims::Graph>(prims::parse(text));
  EXPECT_TRUE(prims::verify(*graph).empty()) << prims::verify(*graph)[0];
  return graph;
}

std::string sized(int64_t outer, int64_t n, int64_t inner) {
  const auto symbol = [](int i, int64_t size) {
    return "symbol s" + std::to_string(i) + " = " + std::to_string(size) + " min 2\n";
  };
  return symbol(0, outer) + symbol(1, n) + symbol(2, inner);
}

// Two stages of reductions, and values of the whole domain.
constexpr const char* kSoftmax = R"(graph(%0 x: f32[s0, s1, s2]) {
  %1: f32[s0, s2] = reduce_max(%0) {dims = (1)}
  %2: f32[s0, s1, s2] = broadcast_in_dim(%1) {shape = [s0, s1, s2], dims = (0, 2)}
  %3: f32[s0, s1, s2] = sub(%0, %2)
  %4: f32[s0, s1, s2] = exp(%3)
  %5: f32[s0, s2] = reduce_sum(%4) {dims = (1)}
  %6: f32[s0, s1, s2] = broadcast_in_dim(%5) {shape = [s0, s1, s2], dims = (0, 2)}
  %7: f32[s0, s1, s2] = div(%4, %6)
  return %7 y
}
)";

// Several reductions of one pass, of numbers, truth values and positions.
constexpr const char* kMixed =
    R"(graph(%0 x: bool[s0, s1, s2], %1 y: f64[s0, s1, s2], %2 z: i16[s0, s1, s2]) {
  %3: bool[s0, s2] = reduce_or(%0) {dims = (1)}
  %4: f64[s0, s2] = reduce_sum(%1) {dims = (1)}
  %5: i16[s0, s2] = reduce_min(%2) {dims = (1)}
  %6: i64[s0, s2] = argmax(%2) {dim = 1}
  return %3 a, %4 b, %5 c, %6 d
}
)";

constexpr const char* kScans = R"(graph(%0 x: f32[s0, s1, s2], %1 y: i32[s0, s1, s2]) {
  %2: f32[s0, s1, s2] = scan_sum(%0) {dim = 1}
  %3: i32[s0, s1, s2], %4: i64[s0, s1, s2] = scan_max(%1) {dim = 1}
  return %2 a, %3 b, %4 c
}
)";

struct ColumnShape {
  int64_t outer, n, inner;
};

void check_columns(const char* text, const ColumnShape& s) {
  const auto graph = parsed(sized(s.outer, s.n, s.inner) + text);
  const Options options = row_major_options(*graph);
  const Program program = schedule(graph, column_groups(), options);
  for (int64_t shift : {0, 1}) {
    check_program(
        *graph, program, options, column_groups(), {s.outer, s.n, s.inner},
        {std::to_string(s.outer) + "x" + std::to_string(s.n) + "x" + std::to_string(s.inner), 0,
         false, shift});
  }
}

// Lengths that the parts divide or not, fewer and more columns than a workgroup has, in one
// workgroup or several.
TEST(Columns, OfAnyShape) {
  for (const char* text : {kSoftmax, kMixed, kScans}) {
    for (const ColumnShape& s :
         {ColumnShape{2, 33, 2}, ColumnShape{2, 40, 5}, ColumnShape{3, 64, 8},
          ColumnShape{2, 129, 33}, ColumnShape{2, 257, 70}, ColumnShape{2, 1000, 3},
          ColumnShape{2, 4101, 2}}) {
      check_columns(text, s);
      if (HasFatalFailure()) return;
    }
  }
}

uint32_t threads_of(const ColumnShape& s, const kir::TargetModel& target) {
  const auto graph = parsed(sized(s.outer, s.n, s.inner) + kSoftmax);
  const Program program = schedule(graph, target, row_major_options(*graph));
  return program.kernels[0].group_size[0];
}

bool meets_at_barriers(const ColumnShape& s, const kir::TargetModel& target) {
  const auto graph = parsed(sized(s.outer, s.n, s.inner) + kSoftmax);
  const Program program = schedule(graph, target, row_major_options(*graph));
  for (const kir::Inst& inst : program.kernels[0].insts)
    if (inst.op == kir::Op::Barrier) return true;
  return false;
}

TEST(Columns, AreSharedWhereTheyAreFewAndLong) {
  kir::TargetModel target = column_groups();
  target.multiprocessors = 2;
  EXPECT_TRUE(meets_at_barriers({2, 1000, 100}, target));
  EXPECT_FALSE(meets_at_barriers({2, 20, 100}, target));   // short
  EXPECT_FALSE(meets_at_barriers({2, 40, 1100}, target));  // enough for a thread each
  EXPECT_EQ(threads_of({2, 4000, 100}, target), 512u);     // 32 columns
  EXPECT_EQ(threads_of({2, 4000, 9}, target), 512u);       // 16 of them
  EXPECT_EQ(threads_of({2, 40, 100}, target), 32u * 8);    // five or more elements a thread
  target.max_group_threads = 64;
  EXPECT_EQ(threads_of({2, 4000, 100}, target), 64u);
  target.max_group_threads = 32;
  EXPECT_FALSE(meets_at_barriers({2, 4000, 100}, target));
  target.max_group_threads = 1024;
  target.group_memory = 256 * 8;  // a row has a maximum and a sum
  EXPECT_EQ(threads_of({2, 4000, 100}, target), 256u);
  target.group_memory = 32 * 8;
  EXPECT_FALSE(meets_at_barriers({2, 4000, 100}, target));
}

}  // namespace
}  // namespace primset::schedule
