// Blocks that a CPU transposes in registers: copies, scans, columns and rows side by side whose
// memory lies the other way give the reference's results, without an access element by element.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "codegen/emit/llvm/testing/native_runner.h"
#include "codegen/schedule/schedule.h"
#include "codegen/schedule/testing/schedule_test_util.h"
#include "prims/graph/text.h"
#include "prims/graph/verifier.h"

namespace primset::schedule {
namespace {

struct BlockCase {
  const char* name;
  const char* text;  // a graph of symbols s0 and s1
  bool transposed;   // do its inputs lie so?
};

void PrintTo(const BlockCase& c, std::ostream* os) {
  *os << c.name;
}

const BlockCase kBlockCases[] = {
    {"copy", R"(graph(%0 x: f32[s0, s1]) {
  %1: f32[s1, s0] = transpose(%0) {permutation = (1, 0)}
  return %1 y
}
)",
     false},
    {"bytes", R"(graph(%0 x: u8[s0, s1], %1 y: u8[s1, s0]) {
  %2: u8[s1, s0] = transpose(%0) {permutation = (1, 0)}
  %3: u8[s1, s0] = add(%2, %1)
  return %3 z
}
)",
     false},
    {"pairs", R"(graph(%0 x: c64[s0, s1], %1 y: f64[s0, s1]) {
  %2: c64[s1, s0] = transpose(%0) {permutation = (1, 0)}
  %3: f64[s1, s0] = transpose(%1) {permutation = (1, 0)}
  return %2 a, %3 b
}
)",
     false},
    {"scan", R"(graph(%0 x: f32[s0, s1], %1 y: bf16[s0, s1]) {
  %2: f32[s0, s1] = scan_sum(%0) {dim = 1}
  %3: f32[s0, s1] = convert(%1) {dtype = f32}
  %4: f32[s0, s1] = add(%2, %3)
  return %4 z
}
)",
     false},
    {"extremum", R"(graph(%0 x: f32[s0, s1]) {
  %1: f32[s0, s1], %2: i64[s0, s1] = scan_max(%0) {dim = 1}
  return %1 a, %2 b
}
)",
     false},
    {"columns", R"(graph(%0 x: f32[s0, s1], %1 y: c64[s0, s1]) {
  %2: f32[s1] = reduce_sum(%0) {dims = (0)}
  %3: c64[s1] = reduce_sum(%1) {dims = (0)}
  return %2 a, %3 b
}
)",
     true},
    {"rows", R"(graph(%0 x: f32[s0, s1]) {
  %1: f32[s0] = reduce_sum(%0) {dims = (1)}
  %2: f32[s0, s1] = broadcast_in_dim(%1) {shape = [s0, s1], dims = (0)}
  %3: f32[s0, s1] = sub(%0, %2)
  return %3 y
}
)",
     true},
};

class Blocks : public testing::TestWithParam<BlockCase> {
 protected:
  struct Sizes {
    int64_t s0, s1;
  };
  static kir::TargetModel target(uint32_t vector_bytes) {
    kir::TargetModel t = emit::native_model();
    t.vector_bytes = std::min(t.vector_bytes, vector_bytes);
    return t;
  }
  static std::shared_ptr<prims::Graph> graph(const Sizes& s) {
    auto g = std::make_shared<prims::Graph>(
        prims::parse("symbol s0 = " + std::to_string(s.s0) +
                     " min 2\nsymbol s1 = " + std::to_string(s.s1) + " min 2\n" + GetParam().text));
    EXPECT_TRUE(prims::verify(*g).empty()) << prims::verify(*g)[0];
    return g;
  }
  static Options options(const prims::Graph& g) {
    Options out = row_major_options(g);
    for (size_t i = 0; GetParam().transposed && i < g.inputs.size(); ++i)
      out.inputs[i] = {column_major(g.type(g.inputs[i].value).shape)};
    return out;
  }
};

// Sizes that blocks and tiles divide or not.
TEST_P(Blocks, GiveTheReferencesResults) {
  for (const uint32_t bytes : {32u, 64u}) {
    for (const Sizes& s :
         {Sizes{8, 8}, Sizes{16, 64}, Sizes{17, 33}, Sizes{100, 9}, Sizes{70, 150}}) {
      const auto g = graph(s);
      const Program program = schedule(g, target(bytes), options(*g));
      check_program(*g, program, options(*g), target(bytes), {s.s0, s.s1},
                    {std::to_string(s.s0) + "x" + std::to_string(s.s1)});
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(Blocks, GatherNothing) {
  const auto g = graph({70, 150});
  for (const kir::Kernel& k : schedule(g, target(64), options(*g)).kernels)
    for (const kir::Inst& inst : k.insts)
      EXPECT_TRUE(inst.op != kir::Op::Gather && inst.op != kir::Op::Scatter);
}

INSTANTIATE_TEST_SUITE_P(Transposed, Blocks, testing::ValuesIn(kBlockCases),
                         [](const auto& c) { return std::string(c.param.name); });

}  // namespace
}  // namespace primset::schedule
