// Rows of a SIMT device that a thread holds, and rows side by side in memory: what they give is the
// reference's, and the same bits however their memory lies.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

#include "codegen/schedule/schedule.h"
#include "codegen/schedule/testing/program_runner.h"
#include "codegen/schedule/testing/schedule_test_util.h"
#include "prims/graph/text.h"
#include "prims/graph/verifier.h"

namespace primset::schedule {
namespace {

using Bytes = std::vector<std::byte>;

kir::TargetModel few_multiprocessors() {
  kir::TargetModel target = simt_model();
  target.fused_fma = true;
  target.group_threads = 128;
  target.max_group_threads = 1024;
  target.multiprocessors = 1;
  return target;
}

kir::TargetModel of_subgroups() {
  kir::TargetModel target = few_multiprocessors();
  target.min_subgroup = target.max_subgroup = 32;
  target.subgroup_ballot = true;
  return target;
}

constexpr const char* kRowSoftmax = R"(graph(%0 x: f32[s0, s1]) {
  %1: f32[s0] = reduce_max(%0) {dims = (1)}
  %2: f32[s0, s1] = broadcast_in_dim(%1) {shape = [s0, s1], dims = (0)}
  %3: f32[s0, s1] = sub(%0, %2)
  %4: f32[s0, s1] = exp(%3)
  %5: f32[s0] = reduce_sum(%4) {dims = (1)}
  %6: f32[s0, s1] = broadcast_in_dim(%5) {shape = [s0, s1], dims = (0)}
  %7: f32[s0, s1] = div(%4, %6)
  return %7 y
}
)";

constexpr const char* kRowSum = R"(graph(%0 x: f32[s0, s1]) {
  %1: f32[s0] = reduce_sum(%0) {dims = (1)}
  return %1 y
}
)";

// Several stages with one result a row.
constexpr const char* kRowSquares = R"(graph(%0 x: f32[s0, s1]) {
  %1: f32[s0] = reduce_max(%0) {dims = (1)}
  %2: f32[s0, s1] = broadcast_in_dim(%1) {shape = [s0, s1], dims = (0)}
  %3: f32[s0, s1] = sub(%0, %2)
  %4: f32[s0, s1] = mul(%3, %3)
  %5: f32[s0] = reduce_sum(%4) {dims = (1)}
  %6: f32[s0] = reduce_sum(%3) {dims = (1)}
  return %1 a, %5 b, %6 c
}
)";

// Of pairs, halves and complex numbers.
constexpr const char* kPairsAndHalves =
    R"(graph(%0 x: i32[s0, s1], %1 y: bf16[s0, s1], %2 z: c64[s0, s1]) {
  %3: i64[s0] = argmax(%0) {dim = 1}
  %4: f32[s0, s1] = convert(%1) {dtype = f32}
  %5: f32[s0] = reduce_max(%4) {dims = (1)}
  %6: c64[s0] = reduce_sum(%2) {dims = (1)}
  return %3 a, %5 b, %6 c
}
)";

struct Rows {
  int64_t count, length;
  std::string text() const { return std::to_string(count) + "x" + std::to_string(length); }
};

std::shared_ptr<prims::Graph> parsed(const char* text, const Rows& rows) {
  const auto graph = std::make_shared<prims::Graph>(
      prims::parse("symbol s0 = " + std::to_string(rows.count) +
                   " min 2\nsymbol s1 = " + std::to_string(rows.length) + " min 2\n" + text));
  EXPECT_TRUE(prims::verify(*graph).empty()) << prims::verify(*graph)[0];
  return graph;
}

Options transposed_options(const prims::Graph& g) {
  Options options = row_major_options(g);
  for (size_t i = 0; i < g.inputs.size(); ++i)
    options.inputs[i] = {column_major(g.type(g.inputs[i].value).shape)};
  return options;
}

void check_rows(const char* text, const Rows& rows, const kir::TargetModel& target) {
  const auto graph = parsed(text, rows);
  for (const Options& options : {row_major_options(*graph), transposed_options(*graph)}) {
    const Program program = schedule(graph, target, options);
    for (int64_t shift : {0, 1}) {
      check_program(*graph, program, options, target, {rows.count, rows.length},
                    {rows.text(), 0, false, shift});
    }
  }
}

TEST(RowLayouts, RowsOfAThread) {
  for (const char* text : {kRowSoftmax, kRowSquares, kPairsAndHalves}) {
    for (const Rows& rows : {Rows{300, 2}, Rows{9, 3}, Rows{200, 8}, Rows{33, 10}, Rows{40, 12},
                             Rows{7, 31}, Rows{150, 32}}) {
      check_rows(text, rows, few_multiprocessors());
      if (HasFatalFailure()) return;
    }
  }
}

// Lengths that the workgroup's threads divide or not, blocks that rows fill or not.
TEST(RowLayouts, RowsSideBySide) {
  for (const kir::TargetModel& target : {few_multiprocessors(), of_subgroups()}) {
    for (const char* text : {kRowSum, kRowSquares, kPairsAndHalves}) {
      for (const Rows& rows :
           {Rows{16, 40}, Rows{24, 700}, Rows{20, 2048}, Rows{18, 1100}, Rows{32, 1029}}) {
        check_rows(text, rows, target);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Rows of as many lanes as they have vectors, and of whole subgroups; those of the last workgroup
// are not all there.
TEST(RowLayouts, RowsOfSubgroups) {
  for (const char* text : {kRowSoftmax, kRowSquares, kPairsAndHalves}) {
    for (const Rows& rows :
         {Rows{2, 33}, Rows{160, 64}, Rows{33, 100}, Rows{24, 200}, Rows{18, 257}, Rows{16, 512}}) {
      check_rows(text, rows, of_subgroups());
      if (HasFatalFailure()) return;
    }
  }
}

// What a program gives of x[rows, length].
std::vector<Bytes> results(const char* text, const Rows& rows, const std::vector<float>& x,
                           bool transposed, int64_t shift, const kir::TargetModel& target) {
  const auto graph = parsed(text, rows);
  const Options options = transposed ? transposed_options(*graph) : row_major_options(*graph);
  std::vector<float> memory = x;
  for (int64_t r = 0; transposed && r < rows.count; ++r) {
    for (int64_t i = 0; i < rows.length; ++i)
      memory[static_cast<size_t>(i * rows.count + r)] = x[static_cast<size_t>(r * rows.length + i)];
  }
  Bytes bytes(memory.size() * sizeof(float));
  std::memcpy(bytes.data(), memory.data(), bytes.size());
  const Program program = schedule(graph, target, options);
  std::vector<Bytes> out;
  for (const auto& o :
       run_program(program, target, {{{bytes}}}, {rows.count, rows.length}, {.shift = shift})
           .outputs)
    out.push_back(o.bytes);
  return out;
}

TEST(RowLayouts, TheBitsDoNotDependOnMemory) {
  for (const kir::TargetModel& target : {few_multiprocessors(), of_subgroups()}) {
    for (const char* text : {kRowSum, kRowSquares, kRowSoftmax}) {
      for (const Rows& rows :
           {Rows{16, 8}, Rows{9, 10}, Rows{72, 70}, Rows{40, 300}, Rows{16, 700}, Rows{24, 2300}}) {
        std::mt19937_64 rng(static_cast<uint64_t>(rows.length));
        std::vector<float> x(static_cast<size_t>(rows.count * rows.length));
        for (float& v : x) v = static_cast<float>(rng() % 100001) / 12345 - 4;
        const auto want = results(text, rows, x, false, 0, target);
        for (bool transposed : {false, true}) {
          for (int64_t shift : {0, 1})
            EXPECT_EQ(results(text, rows, x, transposed, shift, target), want) << rows.text();
        }
      }
    }
  }
}

// Loads of a transposed array's rows by vectors across them.
size_t vectors_across(const Rows& rows, const kir::TargetModel& target) {
  const auto graph = parsed(kRowSum, rows);
  const Program program = schedule(graph, target, transposed_options(*graph));
  const kir::Kernel& kernel = program.kernels[0];
  size_t count = 0;
  for (const kir::Inst& inst : kernel.insts)
    count += inst.op == kir::Op::Load && kernel.type(inst.results[0]).lanes > 1 ? 1 : 0;
  return count;
}

TEST(RowLayouts, RowsSideBySideAreReadInVectors) {
  kir::TargetModel target = few_multiprocessors();
  EXPECT_EQ(vectors_across({16, 700}, target), 8u);
  // Too few for all multiprocessors.
  target.multiprocessors = 4;
  EXPECT_EQ(vectors_across({16, 700}, target), 0u);
}

}  // namespace
}  // namespace primset::schedule
