// Scatters on a SIMT device, whose updates all come at the same time: many to few places.
#include <gtest/gtest.h>

#include <string>

#include "codegen/schedule/schedule.h"
#include "codegen/schedule/testing/program_runner.h"
#include "codegen/schedule/testing/schedule_test_util.h"
#include "prims/graph/text.h"
#include "prims/graph/verifier.h"

namespace primset::schedule {
namespace {

std::string attributes(bool in_bounds, bool ordered) {
  return std::string(", in_bounds = ") + (in_bounds ? "true" : "false") +
         ", ordered = " + (ordered ? "true" : "false") + ", argument = \"index\"}\n";
}

std::string vector_graph(const std::string& prim, const std::string& dtype, bool ordered) {
  return "symbol s0 = 5 min 2\nsymbol s1 = 200 min 2\ngraph(%0 x: " + dtype +
         "[s0], %1 i: i64[s1], %2 u: " + dtype + "[s1]) {\n  %3: " + dtype + "[s0] = " + prim +
         "(%0, %1, %2) {dims = (0)" + attributes(false, ordered) + "  return %3 y\n}\n";
}

// The target, its sizes, and what the program is; the bound of indices.
void check(const std::string& text, std::vector<int64_t> sizes, int64_t bound,
           const kir::TargetModel& target = simt_model()) {
  auto graph = std::make_shared<prims::Graph>(prims::parse(text));
  ASSERT_TRUE(prims::verify(*graph).empty()) << prims::verify(*graph)[0] << text;
  const Options options = row_major_options(*graph);
  const Program program = schedule(graph, target, options);
  for (uint64_t seed : {1, 2, 3})
    check_program(*graph, program, options, target, sizes, {text, bound, false, 0, seed});
}

TEST(Scatter, CombinesInAllElementTypes) {
  for (const char* dtype : {"bool", "u8", "i8", "i16", "i32", "i64", "f32", "f64"}) {
    for (const char* prim : {"scatter_add", "scatter_mul", "scatter_min", "scatter_max"})
      check(vector_graph(prim, dtype, false), {5, 200}, 5);
  }
}

TEST(Scatter, HasManyThreadsWhereItCombines) {
  for (const char* dtype : {"bool", "f16", "f64", "i64"}) {
    const auto graph =
        std::make_shared<prims::Graph>(prims::parse(vector_graph("scatter_mul", dtype, false)));
    const Program program = schedule(graph, simt_model(), row_major_options(*graph));
    bool compares = false;
    for (const kir::Kernel& k : program.kernels) {
      for (const kir::Inst& inst : k.insts) compares |= inst.op == kir::Op::AtomicCas;
    }
    EXPECT_TRUE(compares) << dtype;
  }
}

TEST(Scatter, TheLastWriterWinsWhereOrdered) {
  for (const char* dtype : {"bool", "i16", "f32", "i64", "c64"})
    check(vector_graph("scatter", dtype, true), {5, 200}, 5);
  kir::TargetModel without = simt_model();
  without.atomic_i64 = false;
  check(vector_graph("scatter", "f32", true), {5, 200}, 5, without);
}

// Two dims indexed, one between them not.
TEST(Scatter, TheLastWriterOfARowWins) {
  check(
      "symbol s0 = 3 min 2\nsymbol s1 = 4 min 2\nsymbol s2 = 5 min 2\nsymbol s3 = 60 min 2\n"
      "graph(%0 x: f32[s0, s1, s2], %1 i: i64[s3], %2 j: i64[s3], %3 u: f32[s3, s1]) {\n"
      "  %4: f32[s0, s1, s2] = scatter(%0, %1, %2, %3) {dims = (0, 2)" +
          attributes(false, true) + "  return %4 y\n}\n",
      {3, 4, 5, 60}, 3);
}

size_t launches(const char* text) {
  auto graph = std::make_shared<prims::Graph>(prims::parse(text));
  const Options options = row_major_options(*graph);
  const Program program = schedule(graph, simt_model(), options);
  check_program(*graph, program, options, simt_model(), {}, {text, 5, false, 0, 1});
  return program.steps.size();
}

// What is scattered one after the other goes on in the same memory, copied into it once; where the
// first is read by others too, or the memory is an input's, it is kept.
TEST(Scatter, OfAScatterGoesOnInItsMemory) {
  constexpr const char* kChain =
      R"(graph(%0 x: f32[5], %1 i: i64[40], %2 j: i64[40], %3 u: f32[40]) {
  %4: f32[5] = scatter_add(%0, %1, %3) {dims = (0), in_bounds = false, ordered = false, argument = "index"}
  %5: f32[5] = scatter_add(%4, %2, %3) {dims = (0), in_bounds = false, ordered = false, argument = "index"}
)";
  EXPECT_EQ(launches((std::string(kChain) + "  return %5 y\n}").c_str()), 3U);
  EXPECT_EQ(launches((std::string(kChain) + "  return %5 y, %4 first\n}").c_str()), 4U);
  EXPECT_EQ(launches((std::string(kChain) + "  return %5 y writes 0\n}").c_str()), 4U);
}

}  // namespace
}  // namespace primset::schedule
