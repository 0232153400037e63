// Compactions in tiles on a SIMT device, against the reference.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "codegen/schedule/schedule.h"
#include "codegen/schedule/testing/program_runner.h"
#include "codegen/schedule/testing/schedule_test_util.h"
#include "prims/graph/text.h"
#include "prims/graph/verifier.h"

namespace primset::schedule {
namespace {

// Of 2 or more elements; `results` are of these values.
std::string compaction_graph(const std::string& dtype, const std::string& results) {
  return fmt::format(
      "symbol s0 = 50 min 2\nsymbol u0 = 3\n"
      "graph(%0 x: {0}[s0], %1 m: bool[s0]) {{\n"
      "  %2: {0}[s0], %3: i64[] = compact(%0, %1)\n"
      "  %4: {0}[u0] = set_dim(%2, %3) {{dim = 0}}\n  return {1}\n}}\n",
      dtype, results);
}

void expect_compaction(const std::string& text, int64_t size, const kir::TargetModel& target) {
  const auto graph = std::make_shared<prims::Graph>(prims::parse(text));
  ASSERT_TRUE(prims::verify(*graph).empty()) << prims::verify(*graph)[0] << text;
  const Options options = row_major_options(*graph);
  const Program program = schedule(graph, target, options);
  for (uint64_t seed : {1, 2})
    check_program(*graph, program, options, target, {size, 0}, {text, 5, false, 0, seed});
}

TEST(Compaction, OfAllElementTypes) {
  for (const char* dtype : {"bool", "u8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "c64"})
    expect_compaction(compaction_graph(dtype, "%4 y, %3 n"), 700, simt_model());
}

TEST(Compaction, OfOneTileAndOfMany) {
  for (const kir::TargetModel& target : {simt_model(), ballot_model(8), ballot_model(32)}) {
    for (const int64_t size : {2, 511, 512, 513, 20000})
      expect_compaction(compaction_graph("f32", "%4 y, %3 n"), size, target);
  }
}

TEST(Compaction, TheCountAlone) {
  expect_compaction(compaction_graph("f32", "%3 n"), 5000, simt_model());
}

TEST(Compaction, LeavesZerosBehindTheCount) {
  const auto graph = std::make_shared<prims::Graph>(
      prims::parse("graph(%0 x: f32[300], %1 m: bool[300]) {\n"
                   "  %2: f32[300], %3: i64[] = compact(%0, %1)\n  return %2 y, %3 n\n}\n"));
  const Program program = schedule(graph, simt_model(), row_major_options(*graph));
  std::vector<RunnerTensor> inputs(2);
  inputs[0].bytes.resize(300 * sizeof(float), std::byte{1});
  inputs[1].bytes.resize(300);
  inputs[1].bytes[7] = inputs[1].bytes[200] = std::byte{1};
  RunOptions options;
  options.poison = std::byte{0x5c};
  const RunnerResult r = run_program(program, simt_model(), inputs, {}, options);
  for (size_t i = 0; i < r.outputs[0].bytes.size(); ++i)
    EXPECT_EQ(r.outputs[0].bytes[i], std::byte(i < 2 * sizeof(float) ? 1 : 0)) << i;
  EXPECT_EQ(r.outputs[1].bytes[0], std::byte{2});
}

}  // namespace
}  // namespace primset::schedule
