// Kernels of SIMT devices in vectors: which ones take how wide a vector, and that the vectors, the
// single elements behind them and buffers that begin between boundaries all give the reference's
// results. The kernel interpreter finds races, accesses out of bounds and vectors that are not
// aligned as they promise.
#include "codegen/schedule/loops/vectorization.h"

#include <gtest/gtest.h>

#include "codegen/schedule/testing/program_runner.h"
#include "codegen/schedule/testing/schedule_test_util.h"
#include "prims/graph/text.h"
#include "prims/graph/verifier.h"

namespace primset::schedule {
namespace {

using prims::SymInts;

struct VectorCase {
  const char* name;
  const char* text;      // a graph of symbols s0 and s1
  uint32_t widest_load;  // bytes of the widest access that is expected
  uint32_t widest_store;
  int64_t index_bound = 0;
  // Element strides of the inputs, where they are not row-major.
  std::vector<std::vector<int64_t>> strides = {};
};

void PrintTo(const VectorCase& c, std::ostream* os) {
  *os << c.name;
}

struct Widest {
  uint32_t load = 0, store = 0;
};

Widest widest(const Program& program) {
  Widest out;
  for (const kir::Kernel& k : program.kernels) {
    for (const kir::Inst& inst : k.insts) {
      if (inst.op != kir::Op::Load && inst.op != kir::Op::Store) continue;
      const bool load = inst.op == kir::Op::Load;
      const kir::Type t = k.type(load ? inst.results[0] : inst.operands[2]);
      uint32_t& most = load ? out.load : out.store;
      most = std::max(most, static_cast<uint32_t>(kir::bytes(t.scalar)) * t.lanes);
    }
  }
  return out;
}

// Where long bodies too have vectors.
kir::TargetModel kernel_flavour() {
  kir::TargetModel target = simt_model();
  target.format = kir::Format::spirv_kernel;
  return target;
}

class Vectors : public testing::TestWithParam<VectorCase> {
 protected:
  void SetUp() override {
    graph_ = std::make_shared<prims::Graph>(prims::parse(GetParam().text));
    ASSERT_TRUE(prims::verify(*graph_).empty()) << prims::verify(*graph_)[0];
    for (size_t i = 0; i < graph_->inputs.size(); ++i) {
      const SymInts& shape = graph_->type(graph_->inputs[i].value).shape;
      SymInts strides = row_major(shape);
      if (i < GetParam().strides.size() && !GetParam().strides[i].empty())
        strides.assign(GetParam().strides[i].begin(), GetParam().strides[i].end());
      options_.inputs.push_back({strides});
    }
    for (const auto& out : graph_->outputs)
      options_.outputs.push_back({row_major(graph_->type(out.value).shape)});
  }
  std::shared_ptr<prims::Graph> graph_;
  Options options_;
};

TEST_P(Vectors, OfTheExpectedWidth) {
  const Widest w = widest(schedule(graph_, kernel_flavour(), options_));
  EXPECT_EQ(w.load, GetParam().widest_load);
  EXPECT_EQ(w.store, GetParam().widest_store);
}

TEST_P(Vectors, GiveTheReferencesResults) {
  for (bool index32 : {true, false}) {
    options_.index32 = index32;
    const Program program = schedule(graph_, simt_model(), options_);
    for (int64_t n : {2, 3, 4, 15, 16, 37, 300}) {
      for (int64_t shift : {0, 1, 2, 4, 5}) {
        std::vector<int64_t> symbols{5, n};
        symbols.resize(graph_->context().symbol_count());
        check_program(*graph_, program, options_, simt_model(), symbols,
                      {GetParam().name, GetParam().index_bound, false, shift});
        if (HasFatalFailure()) return;
      }
    }
  }
}

const VectorCase kVectorCases[] = {
    {"negated", R"(symbol s0 = 5 min 2
symbol s1 = 37 min 2
graph(%0 x: f32[s0, s1]) {
  %1: f32[s0, s1] = neg(%0)
  return %1 r
}
)",
     16, 16},
    {"halves", R"(symbol s0 = 5 min 2
symbol s1 = 37 min 2
graph(%0 x: bf16[s0, s1]) {
  %1: bf16[s0, s1] = neg(%0)
  return %1 r
}
)",
     16, 16},
    {"bytes_in_place", R"(symbol s0 = 5 min 2
symbol s1 = 37 min 2
graph(%0 x: i8[s0, s1]) {
  %1: i8[s0, s1] = neg(%0)
  return %1 r writes 0
}
)",
     16, 16},
    {"short_rows_beside_transposed_ones",
     R"(symbol s0 = 5 min 2
symbol s1 = 8 min 2
graph(%0 x: f32[s0, s1], %1 y: f32[s0, s1]) {
  %2: f32[s0, s1] = sub(%0, %1)
  return %2 r
}
)",
     16,
     16,
     0,
     {{1, 5}}},
    {"truths_of_wider_numbers", R"(symbol s0 = 5 min 2
symbol s1 = 37 min 2
graph(%0 x: f32[s0, s1], %1 y: f32[s0, s1], %2 z: bool[s0, s1]) {
  %3: bool[s0, s1] = lt(%0, %1)
  %4: bool[s0, s1] = bit_or(%3, %2)
  return %4 r
}
)",
     16, 4},
    {"complex", R"(symbol s0 = 5 min 2
symbol s1 = 37 min 2
graph(%0 x: c64[s1]) {
  %1: c64[s0, s1] = broadcast_in_dim(%0) {shape = [s0, s1], dims = (1)}
  return %1 r
}
)",
     16, 16},
    {"doubles_in_place", R"(symbol s0 = 5 min 2
symbol s1 = 37 min 2
graph(%0 x: f64[s0, s1], %1 y: f64[s0, s1]) {
  %2: f64[s0, s1] = sub(%0, %1)
  return %2 r writes 0
}
)",
     16, 16},
    // A loop in the body.
    {"remainders", R"(symbol s0 = 5 min 2
symbol s1 = 37 min 2
graph(%0 x: f32[s0, s1], %1 y: f32[s0, s1]) {
  %2: f32[s0, s1] = rem(%0, %1)
  return %2 r
}
)",
     16, 16},
    {"remainders_of_halves", R"(symbol s0 = 5 min 2
symbol s1 = 37 min 2
graph(%0 x: bf16[s0, s1], %1 y: bf16[s0, s1]) {
  %2: bf16[s0, s1] = rem(%0, %1)
  return %2 r
}
)",
     8, 8},
    // Rows of odd length lie on no common boundary.
    {"rows_with_gaps",
     R"(symbol s0 = 5 min 2
symbol s1 = 37 min 2
graph(%0 x: f32[s0, s1], %1 y: f32[s1]) {
  %2: f32[s0, s1] = broadcast_in_dim(%1) {shape = [s0, s1], dims = (1)}
  %3: f32[s0, s1] = add(%0, %2)
  return %3 r
}
)",
     16,
     16,
     0,
     {{512, 1}}},
    {"columns_of_numbers", R"(symbol s0 = 5 min 2
symbol s1 = 37 min 2
graph(%0 x: f32[s0, s1], %1 y: f32[s0]) {
  %2: f32[s0, s1] = broadcast_in_dim(%1) {shape = [s0, s1], dims = (0)}
  %3: f32[s0, s1] = add(%0, %2)
  return %3 r
}
)",
     16, 16},
    {"one_number_for_all", R"(symbol s0 = 5 min 2
symbol s1 = 37 min 2
graph(%0 x: i32[], %1 y: bool scalar) {
  %2: i32[] = convert(%1) {dtype = i32}
  %3: i32[] = add(%0, %2)
  %4: i32[s0, s1] = broadcast_in_dim(%3) {shape = [s0, s1], dims = ()}
  return %4 r
}
)",
     4, 16},
    {"rows_by_index", R"(symbol s0 = 5 min 2
symbol s1 = 36 min 2
graph(%0 x: f32[s0, s1], %1 i: i64[s0]) {
  %2: f32[s0, s1] = gather(%0, %1) {dims = (0), in_bounds = true, argument = "index"}
  return %2 r
}
)",
     16, 16, 5},
    {"checked_rows_by_index", R"(symbol s0 = 5 min 2
symbol s1 = 36 min 2
graph(%0 x: bf16[s0, s1], %1 i: i64[s0]) {
  %2: bf16[s0, s1] = gather(%0, %1) {dims = (0), in_bounds = false, argument = "index"}
  return %2 r
}
)",
     16, 16, 5},
    // The same with an index out of range: reported, and the element skipped.
    {"rows_by_a_bad_index", R"(symbol s0 = 5 min 2
symbol s1 = 36 min 2
graph(%0 x: f32[s0, s1], %1 i: i64[s0]) {
  %2: f32[s0, s1] = gather(%0, %1) {dims = (0), in_bounds = false, argument = "index"}
  return %2 r
}
)",
     16, 16, 9},
    {"columns_by_index", R"(symbol s0 = 5 min 2
symbol s1 = 37 min 2
graph(%0 x: f32[5], %1 i: i32[s0, s1]) {
  %2: f32[s0, s1] = gather(%0, %1) {dims = (0), in_bounds = true, argument = "index"}
  return %2 r
}
)",
     16, 16, 5},
    {"softmax_of_rows", R"(symbol s0 = 5 min 2
symbol s1 = 77 min 2
graph(%0 x: f32[s0, s1]) {
  %1: f32[s0] = reduce_max(%0) {dims = (1)}
  %2: f32[s0, s1] = broadcast_in_dim(%1) {shape = [s0, s1], dims = (0)}
  %3: f32[s0, s1] = sub(%0, %2)
  %4: f32[s0, s1] = exp(%3)
  %5: f32[s0] = reduce_sum(%4) {dims = (1)}
  %6: f32[s0, s1] = broadcast_in_dim(%5) {shape = [s0, s1], dims = (0)}
  %7: f32[s0, s1] = div(%4, %6)
  return %7 r
}
)",
     32, 32},
    {"sums_of_halves_with_weights", R"(symbol s0 = 5 min 2
symbol s1 = 1500 min 2
graph(%0 x: f16[s0, s1], %1 w: f16[s1]) {
  %2: f32[s0, s1] = convert(%0) {dtype = f32}
  %3: f32[s0] = reduce_sum(%2) {dims = (1)}
  %4: f32[s0, s1] = broadcast_in_dim(%3) {shape = [s0, s1], dims = (0)}
  %5: f32[s1] = convert(%1) {dtype = f32}
  %6: f32[s0, s1] = broadcast_in_dim(%5) {shape = [s0, s1], dims = (1)}
  %7: f32[s0, s1] = sub(%2, %4)
  %8: f32[s0, s1] = mul(%7, %6)
  %9: f16[s0, s1] = convert(%8) {dtype = f16}
  return %9 r
}
)",
     16, 16},
    {"backwards", R"(symbol s0 = 5 min 2
symbol s1 = 37 min 2
graph(%0 x: f32[s0, s1]) {
  %1: f32[s0, s1] = reverse(%0) {dims = (1)}
  return %1 r
}
)",
     4, 4},
    {"rows_backwards", R"(symbol s0 = 5 min 2
symbol s1 = 36 min 2
graph(%0 x: f32[s0, s1]) {
  %1: f32[s0, s1] = reverse(%0) {dims = (0)}
  return %1 r
}
)",
     16, 16},
    {"every_third",
     R"(symbol s0 = 5 min 2
symbol s1 = 37 min 2
graph(%0 x: f32[s1]) {
  %1: f32[s1] = neg(%0)
  return %1 r
}
)",
     4,
     4,
     0,
     {{3}}},
    {"with_a_border", R"(symbol s0 = 5 min 2
symbol s1 = 37 min 2
graph(%0 x: f32[s1], %1 y: f32[]) {
  %2: f32[s1 + 3] = pad(%0, %1) {low = [1], high = [2], interior = [0]}
  return %2 r
}
)",
     4, 4},
    // Through the workgroup's memory: single elements, but read along their own rows.
    {"transposed", R"(symbol s0 = 37 min 2
symbol s1 = 45 min 2
graph(%0 x: f32[s1, s0], %1 y: f32[s0, s1]) {
  %2: f32[s0, s1] = transpose(%0) {permutation = (1, 0)}
  %3: f32[s0, s1] = add(%2, %1)
  return %3 r writes 1
}
)",
     4, 4},
    {"transposed_halves_in_batches", R"(symbol s0 = 37 min 2
symbol s1 = 45 min 2
graph(%0 x: bf16[s0, 16, s1], %1 y: c64[16, s1]) {
  %2: bf16[s0, s1, 16] = transpose(%0) {permutation = (0, 2, 1)}
  %3: c64[s1, 16] = transpose(%1) {permutation = (1, 0)}
  return %2 r, %3 s
}
)",
     4, 4},
    {"one_number", R"(symbol s0 = 5 min 2
symbol s1 = 37 min 2
graph(%0 x: f32[]) {
  %1: f32[] = neg(%0)
  return %1 r
}
)",
     4, 4},
};

INSTANTIATE_TEST_SUITE_P(Schedule, Vectors, testing::ValuesIn(kVectorCases),
                         [](const auto& info) { return std::string(info.param.name); });

// A kernel that loads a vector, multiplies it so often by itself and stores it.
kir::Kernel products(int count) {
  kir::Builder b("k", simt_model());
  kir::Value p = b.pointer_param("p", true, true);
  kir::Value x = b.load({kir::Scalar::f32, kProbeLanes}, p, b.i32(0), 4);
  for (int i = 0; i < count; ++i) x = b.fmul(x, x);
  b.store(p, b.i32(0), x, 4);
  return std::move(b).finish();
}

TEST(Vectorization, LongArithmeticTakesRegistersAndThenNarrowerVectors) {
  Analysis seen;
  seen.accesses = {{0, loop_variable(0), false, DType::f32, LaneAccess::contiguous, false, false},
                   {1, loop_variable(0), true, DType::f32, LaneAccess::contiguous, false, false}};
  const std::vector<LoopDim> loops{{{0}, prims::SymInt(1000), {}, false}};
  const Tuning tuning(kernel_flavour());
  EXPECT_EQ(choose_vectorization(products(40), seen, loops, tuning).width, 4);
  EXPECT_EQ(choose_vectorization(products(40), seen, loops, tuning).unroll, 1);
  EXPECT_EQ(choose_vectorization(products(40), seen, loops, tuning).resident_threads,
            tuning.loops.resident_threads);
  EXPECT_EQ(choose_vectorization(products(100), seen, loops, tuning).width, 4);
  EXPECT_EQ(choose_vectorization(products(100), seen, loops, tuning).resident_threads,
            tuning.loops.resident_threads / 2);
  EXPECT_EQ(choose_vectorization(products(400), seen, loops, tuning).width, 2);
  // One element a thread from a shorter body on (docs/decisions/driver_workarounds.md).
  EXPECT_EQ(choose_vectorization(products(400), seen, loops, Tuning(simt_model())).width, 1);
  EXPECT_EQ(choose_vectorization({}, seen, {{{0}, prims::SymInt(3), {}, false}}, tuning).width, 2);
  EXPECT_EQ(choose_vectorization({}, seen, loops, tuning).width, 4);
  EXPECT_EQ(choose_vectorization({}, seen, loops, tuning).unroll, 2);
  // Elements that begin two behind a boundary.
  seen.accesses[0].address.constant = 6;
  EXPECT_EQ(choose_vectorization({}, seen, loops, tuning).width, 2);
  seen.accesses[0].address.constant = 7;
  EXPECT_EQ(choose_vectorization({}, seen, loops, tuning).width, 1);
  seen.accesses[0].lanes = LaneAccess::strided;
  EXPECT_EQ(choose_vectorization(products(100), seen, loops, tuning).width, 1);
}

// More threads than a long body wants on a multiprocessor are still one group.
TEST(Vectorization, LongBodiesRunInGroupsOfAnySize) {
  kir::TargetModel target = simt_model();
  target.group_threads = target.max_group_threads = 4096;
  auto graph = std::make_shared<prims::Graph>(prims::parse(R"(symbol s0 = 9000 min 2
graph(%0 x: f32[s0]) {
  %1: f32[s0] = normal_cdf(%0)
  %2: f32[s0] = mul(%0, %1)
  return %2 r
}
)"));
  ASSERT_TRUE(prims::verify(*graph).empty()) << prims::verify(*graph)[0];
  Options options;
  options.inputs = {{row_major(graph->type(graph->inputs[0].value).shape)}};
  options.outputs = {{row_major(graph->type(graph->outputs[0].value).shape)}};
  const Program program = schedule(graph, target, options);
  EXPECT_GT(program.kernels[0].min_groups_per_multiprocessor, 0u);
  check_program(*graph, program, options, target, {9000}, {"groups of 4096"});
}

}  // namespace
}  // namespace primset::schedule
