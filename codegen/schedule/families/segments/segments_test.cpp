// Runs of different lengths, none of some, by every way in which threads share them.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "codegen/schedule/families/segments/segment_tile.h"
#include "codegen/schedule/schedule.h"
#include "codegen/schedule/testing/program_runner.h"
#include "codegen/schedule/testing/schedule_test_util.h"
#include "prims/graph/text.h"
#include "prims/graph/verifier.h"

namespace primset::schedule {
namespace {

struct SegmentCase {
  std::string dtype;
  std::string reduce;
  int64_t runs, entries;
  int64_t columns;  // 0: x is a vector
};

std::vector<int64_t> shape_of(const SegmentCase& c, std::vector<int64_t> shape) {
  if (c.columns) shape.push_back(c.columns);
  return shape;
}

// Run r begins at r^2 - 40, within the entries: the first ones are empty, and each is longer than
// the one before. The last pointer, %8, is the number of entries.
std::string pointers_text(const SegmentCase& c) {
  const std::string type = fmt::format("i64[{}]", c.runs + 1);
  const auto constant = [&](int64_t v) {
    return fmt::format("constant() {{value = #{}, dtype = i64, shape = [{}]}}", v, c.runs + 1);
  };
  std::string text =
      fmt::format("  %1: {} = iota() {{shape = [{}], dim = 0, dtype = i64}}\n", type, c.runs + 1);
  text += fmt::format("  %2: {0} = mul(%1, %1)\n  %3: {0} = {1}\n", type, constant(40));
  text += fmt::format("  %4: {0} = sub(%2, %3)\n  %5: {0} = {1}\n", type, constant(0));
  text += fmt::format("  %6: {0} = max(%4, %5)\n  %7: {0} = {1}\n", type, constant(c.entries));
  return text + fmt::format("  %8: {} = min(%6, %7)\n", type);
}

std::string header_text(const SegmentCase& c) {
  return fmt::format("graph(%0 x: {}[{}]) {{\n{}", c.dtype,
                     fmt::join(shape_of(c, {c.entries}), ", "), pointers_text(c));
}

std::string segments_graph(const SegmentCase& c) {
  return header_text(c) +
         fmt::format(
             "  %9: {}[{}] = segment_reduce(%0, %8) {{reduce = \"{}\"}}\n  return %9 y\n}}\n",
             c.dtype, fmt::join(shape_of(c, {c.runs}), ", "), c.reduce);
}

// The same as a reduction over all entries, which are the neutral element in all runs but one.
std::string reference_graph(const SegmentCase& c) {
  static const std::map<std::string, std::string> kNeutral = {
      {"sum", "#0.0"}, {"prod", "#1.0"}, {"max", "#-inf"}, {"min", "#inf"}};
  const auto list = [](const std::vector<int64_t>& v) {
    return fmt::format("{}", fmt::join(v, ", "));
  };
  const std::string all = list(shape_of(c, {c.runs, c.entries}));
  std::string text = header_text(c);
  for (int64_t end : {0, 1})
    text += fmt::format(
        "  %{0}: i64[{1}] = slice(%8) {{start = [{2}], limit = [{3}], stride = [1]}}\n"
        "  %{4}: i64[{5}] = broadcast_in_dim(%{0}) {{shape = [{5}], dims = (0)}}\n",
        9 + 2 * end, c.runs, end, c.runs + end, 10 + 2 * end, all);
  text += fmt::format("  %13: i64[{0}] = iota() {{shape = [{0}], dim = 1, dtype = i64}}\n", all);
  text += fmt::format("  %14: bool[{0}] = le(%10, %13)\n  %15: bool[{0}] = lt(%13, %12)\n", all);
  text += fmt::format("  %16: bool[{}] = bit_and(%14, %15)\n", all);
  text += fmt::format("  %17: {0}[{1}] = broadcast_in_dim(%0) {{shape = [{1}], dims = ({2})}}\n",
                      c.dtype, all, c.columns ? "1, 2" : "1");
  text += fmt::format("  %18: {0}[{1}] = constant() {{value = {2}, dtype = {0}, shape = [{1}]}}\n",
                      c.dtype, all, kNeutral.at(c.reduce));
  text += fmt::format("  %19: {0}[{1}] = select(%16, %17, %18)\n", c.dtype, all);
  text += fmt::format("  %20: {}[{}] = reduce_{}(%19) {{dims = (1)}}\n", c.dtype,
                      list(shape_of(c, {c.runs})), c.reduce);
  return text + "  return %20 y\n}\n";
}

void expect_segments(const SegmentCase& c, const kir::TargetModel& target) {
  const std::string text = segments_graph(c);
  const auto graph = std::make_shared<prims::Graph>(prims::parse(text));
  ASSERT_TRUE(prims::verify(*graph).empty()) << prims::verify(*graph)[0] << text;
  const prims::Graph reference = prims::parse(reference_graph(c));
  ASSERT_TRUE(prims::verify(reference).empty()) << prims::verify(reference)[0];
  const Options options = row_major_options(*graph);
  check_program(reference, schedule(graph, target, options), options, target, {}, {text});
}

TEST(Segments, OfAllKindsAndElementTypes) {
  for (const char* reduce : {"sum", "prod", "max", "min"}) {
    for (const char* dtype : {"f16", "bf16", "f32", "f64"})
      expect_segments({dtype, reduce, 15, 150, 3}, simt_model());
  }
}

// Threads share runs through workgroup memory or by exchanges, or have one each; columns are one, a
// few, and more than a workgroup has side by side.
TEST(Segments, OfAllWaysToShareThem) {
  for (const kir::TargetModel& target : {simt_model(), ballot_model(8), ballot_model(32)}) {
    for (const int64_t columns : {0, 1, 3, 70}) {
      expect_segments({"f32", "sum", 40, 60, columns}, target);
      expect_segments({"f32", "sum", 24, 500, columns}, target);
      // The reference reduces runs x entries x columns values.
      if (columns < 70) expect_segments({"f64", "sum", 50, 2400, columns}, target);
    }
  }
}

TEST(Segments, LongOnesAreSharedByMoreThreads) {
  const Machine machine(simt_model());
  uint32_t before = 0;
  for (const int64_t length : {1, 20, 60, 600}) {
    const SegmentTile tile = segment_tile(machine, 100 * length, 100, 1);
    EXPECT_EQ(tile.width, 1u);
    EXPECT_GT(tile.parts, before) << length;
    EXPECT_EQ(tile.threads(), simt_model().group_threads);
    before = tile.parts;
  }
}

}  // namespace
}  // namespace primset::schedule
