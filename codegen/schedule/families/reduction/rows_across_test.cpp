// Rows side by side in memory on a CPU: what they give is the reference's, and the same bits as
// that of rows along memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>

#include "codegen/emit/llvm/testing/native_runner.h"
#include "codegen/schedule/schedule.h"
#include "codegen/schedule/testing/program_runner.h"
#include "codegen/schedule/testing/schedule_test_util.h"
#include "prims/graph/text.h"
#include "prims/graph/verifier.h"

namespace primset::schedule {
namespace {

using Bytes = std::vector<std::byte>;

kir::TargetModel cpu_of_width(uint32_t vector_bytes) {
  kir::TargetModel t = emit::native_model();
  t.vector_bytes = std::min(t.vector_bytes, vector_bytes);
  return t;
}

constexpr const char* kSumOfRows = R"(graph(%0 x: f32[s0, s1, s2]) {
  %1: f32[s0, s1] = reduce_sum(%0) {dims = (2)}
  return %1 y
}
)";

// Of products, which may be contracted.
constexpr const char* kSumOfSquares = R"(graph(%0 x: f32[s0, s1, s2]) {
  %1: f32[s0, s1, s2] = mul(%0, %0)
  %2: f32[s0, s1] = reduce_sum(%1) {dims = (2)}
  return %2 y
}
)";

// Two stages, and values of the whole domain.
constexpr const char* kSoftmaxOfRows = R"(graph(%0 x: f32[s0, s1, s2]) {
  %1: f32[s0, s1] = reduce_max(%0) {dims = (2)}
  %2: f32[s0, s1, s2] = broadcast_in_dim(%1) {shape = [s0, s1, s2], dims = (0, 1)}
  %3: f32[s0, s1, s2] = sub(%0, %2)
  %4: f32[s0, s1, s2] = exp(%3)
  %5: f32[s0, s1] = reduce_sum(%4) {dims = (2)}
  %6: f32[s0, s1, s2] = broadcast_in_dim(%5) {shape = [s0, s1, s2], dims = (0, 1)}
  %7: f32[s0, s1, s2] = div(%4, %6)
  return %7 y
}
)";

// Of truth values, pairs and complex numbers.
constexpr const char* kOthers =
    R"(graph(%0 x: bool[s0, s1, s2], %1 y: i32[s0, s1, s2], %2 z: c64[s0, s1, s2]) {
  %3: bool[s0, s1] = reduce_or(%0) {dims = (2)}
  %4: i64[s0, s1] = argmax(%1) {dim = 2}
  %5: c64[s0, s1] = reduce_sum(%2) {dims = (2)}
  return %3 a, %4 b, %5 c
}
)";

struct Shape {
  int64_t outer, rows, length;
  std::string text() const {
    return std::to_string(outer) + "x" + std::to_string(rows) + "x" + std::to_string(length);
  }
};

std::shared_ptr<prims::Graph> parsed(const char* text, const Shape& s) {
  std::string symbols;
  int i = 0;
  for (int64_t size : {s.outer, s.rows, s.length})
    symbols += "symbol s" + std::to_string(i++) + " = " + std::to_string(size) + " min 2\n";
  const auto graph = std::make_shared<prims::Graph>(prims::parse(symbols + text));
  EXPECT_TRUE(prims::verify(*graph).empty()) << prims::verify(*graph)[0];
  return graph;
}

Options columns_options(const prims::Graph& g) {
  Options options = row_major_options(g);
  for (size_t i = 0; i < g.inputs.size(); ++i)
    options.inputs[i] = {column_major(g.type(g.inputs[i].value).shape)};
  return options;
}

TEST(RowsAcross, GiveTheReferencesResults) {
  for (const uint32_t bytes : {32u, 64u}) {
    for (const char* text : {kSumOfRows, kSumOfSquares, kSoftmaxOfRows, kOthers}) {
      for (const Shape& s : {Shape{2, 3, 5}, Shape{17, 2, 40}, Shape{5, 33, 64}, Shape{40, 2, 70},
                             Shape{3, 7, 1000}}) {
        const auto graph = parsed(text, s);
        const Options options = columns_options(*graph);
        check_program(*graph, schedule(graph, cpu_of_width(bytes), options), options,
                      cpu_of_width(bytes), {s.outer, s.rows, s.length}, {s.text()});
        if (HasFatalFailure()) return;
      }
    }
  }
}

// What a program gives of x[outer, rows, length].
std::vector<Bytes> bits_of(const char* text, const Shape& s, bool transposed,
                           const kir::TargetModel& target) {
  const auto graph = parsed(text, s);
  const Options options = transposed ? columns_options(*graph) : row_major_options(*graph);
  std::mt19937_64 rng(static_cast<uint64_t>(s.length));
  std::vector<float> memory(static_cast<size_t>(s.outer * s.rows * s.length));
  for (int64_t o = 0; o < s.outer; ++o) {
    for (int64_t r = 0; r < s.rows; ++r) {
      for (int64_t i = 0; i < s.length; ++i) {
        const int64_t at =
            transposed ? (i * s.rows + r) * s.outer + o : (o * s.rows + r) * s.length + i;
        memory[static_cast<size_t>(at)] = static_cast<float>(rng() % 100001) / 12345 - 4;
      }
    }
  }
  Bytes bytes(memory.size() * sizeof(float));
  std::memcpy(bytes.data(), memory.data(), bytes.size());
  const Program program = schedule(graph, target, options);
  std::vector<Bytes> out;
  for (const auto& o :
       run_program(program, target, {{{bytes}}}, {s.outer, s.rows, s.length}).outputs)
    out.push_back(o.bytes);
  return out;
}

// The longest row is read as several streams.
TEST(RowsAcross, TheBitsAreThoseOfRowsAlongMemory) {
  for (const uint32_t bytes : {32u, 64u}) {
    for (const char* text : {kSumOfRows, kSumOfSquares, kSoftmaxOfRows}) {
      for (const Shape& s :
           {Shape{2, 3, 5}, Shape{17, 2, 40}, Shape{3, 33, 700}, Shape{2, 9, 16384 * 3 + 50}}) {
        EXPECT_EQ(bits_of(text, s, true, cpu_of_width(bytes)),
                  bits_of(text, s, false, cpu_of_width(bytes)))
            << text << s.text();
      }
    }
  }
}

size_t gathers(const char* text, const Shape& s) {
  const auto graph = parsed(text, s);
  const Program program = schedule(graph, cpu_of_width(64), columns_options(*graph));
  size_t count = 0;
  for (const kir::Kernel& k : program.kernels)
    for (const kir::Inst& inst : k.insts) count += inst.op == kir::Op::Gather ? 1 : 0;
  return count;
}

TEST(RowsAcross, AreReadInVectors) {
  EXPECT_EQ(gathers(kSumOfRows, {40, 2, 70}), 0u);
  EXPECT_EQ(gathers(kSoftmaxOfRows, {40, 2, 70}), 0u);
}

}  // namespace
}  // namespace primset::schedule
