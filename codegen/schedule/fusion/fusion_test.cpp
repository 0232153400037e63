// What shares a kernel, and what the plan says of the rest; each graph is run too, and its results
// held against the reference's.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <variant>

#include "codegen/emit/llvm/testing/native_runner.h"
#include "codegen/schedule/schedule.h"
#include "codegen/schedule/testing/plan_invariants.h"
#include "codegen/schedule/testing/program_runner.h"
#include "codegen/schedule/testing/schedule_test_util.h"
#include "codegen/schedule/testing/staged_schedule.h"
#include "prims/graph/builder.h"
#include "prims/graph/text.h"
#include "prims/graph/verifier.h"

namespace primset::schedule {
namespace {

using prims::Prim;
using prims::ValueId;
using testing::HasSubstr;
using testing::Not;

struct Planned {
  std::shared_ptr<prims::Graph> graph;
  std::string plan;
  Program program;

  // Launches outside of loops and branches.
  size_t kernels() const {
    return static_cast<size_t>(std::ranges::count_if(
        program.steps, [](const Step& s) { return std::holds_alternative<LaunchStep>(s.step); }));
  }
};

Planned planned(std::shared_ptr<prims::Graph> graph, const kir::TargetModel& target,
                const std::vector<int64_t>& symbols = {}) {
  Planned p{std::move(graph), {}, {}};
  Options options = row_major_options(*p.graph);
  options.fusion_text = &p.plan;
  p.program = schedule(p.graph, target, options);
  check_program(*p.graph, p.program, options, target, symbols, {});
  return p;
}

Planned planned(const char* text) {
  return planned(std::make_shared<prims::Graph>(prims::parse(text)), emit::native_model());
}

std::shared_ptr<prims::Graph> built(const std::function<void(prims::Builder&)>& build) {
  auto graph = std::make_shared<prims::Graph>();
  prims::Builder b(*graph);
  build(b);
  return graph;
}

TEST(Fusion, RowsAreOneKernel) {
  const Planned p = planned(R"(graph(%0 x: f32[5, 40]) {
  %1: f32[5] = reduce_max(%0) {dims = (1)}
  %2: f32[5, 40] = broadcast_in_dim(%1) {shape = [5, 40], dims = (0)}
  %3: f32[5, 40] = sub(%0, %2)
  %4: f32[5, 40] = exp(%3)
  %5: f32[5] = reduce_sum(%4) {dims = (1)}
  %6: f32[5, 40] = broadcast_in_dim(%5) {shape = [5, 40], dims = (0)}
  %7: f32[5, 40] = div(%4, %6)
  return %7 y, %5 sums
})");
  EXPECT_EQ(p.kernels(), 1u) << p.plan;
  EXPECT_THAT(p.plan, HasSubstr("reduction\n  reduces %1 reduce_max"));
}

TEST(Fusion, WhatIsCheapIsComputedAgainAndWhatIsDearIsKept) {
  const auto with = [&](Prim operation) {
    return planned(built([&](prims::Builder& b) {
                     ValueId x = b.tensor_input("x", {DType::f64, {300, 300}});
                     for (int i = 0; i < 8; ++i) x = b.unary(operation, x);
                     b.output("rows", b.reduce(Prim::reduce_max, x, {1}));
                     b.output("columns", b.reduce(Prim::reduce_max, x, {0}));
                   }),
                   emit::native_model());
  };
  const Planned cheap = with(Prim::neg);
  EXPECT_EQ(cheap.kernels(), 2u) << cheap.plan;
  EXPECT_THAT(cheap.plan, Not(HasSubstr("several kernels read it")));
  const Planned dear = with(Prim::tanh);
  EXPECT_EQ(dear.kernels(), 2u) << dear.plan;  // one of them writes it, as one more result
  EXPECT_THAT(dear.plan, HasSubstr("several kernels read it, and computing it in each costs more"));
}

// On a GPU an element's loop has a kernel of its own: a row's threads would wait for each other.
TEST(Fusion, WhatLoopsIsComputedBeforeRowsAre) {
  const auto graph = std::make_shared<prims::Graph>(prims::parse(R"(graph(%0 x: f32[5, 40]) {
  %9: f32[5, 40] = map(%0) region(%1: f32[]) {
    %8: f32[] = while_loop(%1) region(%2: f32[]) {
      %3: f32[] = constant() {value = #1.0, dtype = f32, shape = []}
      %4: bool[] = lt(%3, %2)
      return %4
    } region(%5: f32[]) {
      %6: f32[] = constant() {value = #0.5, dtype = f32, shape = []}
      %7: f32[] = mul(%5, %6)
      return %7
    }
    return %8
  }
  %10: f32[5] = reduce_sum(%9) {dims = (1)}
  %11: f32[5, 40] = broadcast_in_dim(%10) {shape = [5, 40], dims = (0)}
  %12: f32[5, 40] = div(%9, %11)
  return %12 y
})"));
  ASSERT_TRUE(prims::verify(*graph).empty()) << prims::verify(*graph)[0];
  const Planned threads = planned(graph, simt_model());
  EXPECT_EQ(threads.kernels(), 2u) << threads.plan;
  EXPECT_THAT(threads.plan, HasSubstr("its reader's threads would wait for each other"));
  EXPECT_EQ(planned(graph, emit::native_model()).kernels(), 1u);
}

TEST(Fusion, AnotherRowsResultIsReadFromMemory) {
  const Planned p = planned(R"(graph(%0 x: i32[6, 40]) {
  %1: i32[6] = reduce_max(%0) {dims = (1)}
  %2: i32[6] = reverse(%1) {dims = (0)}
  %3: i32[6] = add(%1, %2)
  return %3 y
})");
  EXPECT_EQ(p.kernels(), 2u) << p.plan;
  EXPECT_THAT(p.plan, HasSubstr("its reader asks for another row's than its own"));
}

// The gradient of a norm and of the bias before it: the rows' kernel has all that the gradient
// takes, and stores it; its sum over columns reads it.
TEST(Fusion, WhatIsMadeOfRowsIsStoredByTheirKernelAndNotByOneOverColumns) {
  const Planned p = planned(R"(graph(%0 d: f32[64, 48], %1 x: f32[64, 48]) {
  %2: f32[64, 48] = mul(%0, %1)
  %3: f32[64] = reduce_sum(%2) {dims = (1)}
  %4: f32[64, 48] = broadcast_in_dim(%3) {shape = [64, 48], dims = (0)}
  %5: f32[64, 48] = sub(%2, %4)
  %6: f32[48] = reduce_sum(%5) {dims = (0)}
  return %5 dx, %6 db
})");
  EXPECT_EQ(p.kernels(), 2u) << p.plan;
  EXPECT_THAT(p.plan, HasSubstr("reads %0 %1\n  writes %7 to b3 (output 0)"));
  EXPECT_THAT(p.plan, HasSubstr("reads %7\n  writes %10 to b4 (output 1)"));
}

TEST(Fusion, AWiderTypeIsNotStored) {
  const Planned p = planned(R"(graph(%0 x: f32[64, 48]) {
  %1: f32[64, 48] = exp(%0)
  %2: f32[64, 48] = tanh(%1)
  %3: f32[64, 48] = log(%2)
  %4: f32[64, 48] = tanh(%3)
  %5: f32[64, 48] = exp(%4)
  %6: f32[64, 48] = tanh(%5)
  %7: f32[64, 48] = log(%6)
  %8: f32[64, 48] = tanh(%7)
  %9: bf16[64, 48] = convert(%8) {dtype = bf16}
  %10: f32[64, 48] = convert(%9) {dtype = f32}
  %11: f32[64] = reduce_sum(%10) {dims = (1)}
  %12: f32[48] = reduce_sum(%10) {dims = (0)}
  return %11 rows, %12 columns
})");
  std::vector<DType> stored;
  for (const Buffer& b : p.program.buffers)
    if (b.kind == Buffer::Kind::temp) stored.push_back(b.dtype);
  EXPECT_EQ(stored, std::vector{DType::bf16}) << p.plan;
}

// %1 is asked for by the kernel before and after its reductions are known to be part of it.
TEST(Fusion, WhatAKernelUsesItselfIsNotStored) {
  const Planned p = planned(R"(graph(%0 d: f32[64, 48]) {
  %1: f32[64, 48] = exp(%0)
  %2: f32[64] = reduce_sum(%1) {dims = (1)}
  %3: f32[64, 48] = broadcast_in_dim(%2) {shape = [64, 48], dims = (0)}
  %4: f32[64, 48] = mul(%1, %3)
  %5: f32[48] = reduce_sum(%4) {dims = (0)}
  return %4 y, %5 columns
})");
  EXPECT_EQ(p.program.buffers.size(), 4u) << p.plan;  // errors, the input and the outputs
}

// A product of a device's library reads any strides.
TEST(Fusion, WhatIsTransposedForALibraryLiesAsItWasMade) {
  const auto g =
      std::make_shared<prims::Graph>(prims::parse(R"(graph(%0 x: f32[64, 48], %1 y: f32[64, 32]) {
  %2: f32[64, 48] = exp(%0)
  %3: f32[48, 64] = transpose(%2) {permutation = (1, 0)}
  %4: f32[48, 32] = dot_general(%3, %1) {a_contract = (1), b_contract = (0), a_batch = (), b_batch = (), accumulate = f32}
  return %4 z
})"));
  Options options = row_major_options(*g);
  options.native = [](const prims::Graph& graph, prims::NodeId id) {
    return graph.node(id).prim == Prim::dot_general;
  };
  const Program program = schedule(g, emit::native_model(), options);
  const auto* product = std::get_if<NativeStep>(&program.steps.back().step);
  ASSERT_NE(product, nullptr);
  EXPECT_EQ(product->operands[0].strides[0].constant(), 1);
  EXPECT_EQ(product->operands[0].strides[1].constant(), 48);
}

// On a GPU tiles are copied from matrices in memory: merged heads are made one, by a copy where
// they are an input, and by who makes them where that is a kernel.
TEST(Fusion, HeadsThatAProductMergesLieAsAMatrix) {
  const auto product = [](const char* operand) {
    return std::make_shared<prims::Graph>(prims::parse(fmt::format(
        R"(graph(%0 x: f32[4, 64, 32], %1 y: f32[4, 32, 32], %2 z: f32[128, 64]) {{
  %3: f32[4, 64, 32] = dot_general(%0, %1) {{a_contract = (2), b_contract = (1), a_batch = (0), b_batch = (0), accumulate = f32}}
  %4: f32[64, 4, 32] = transpose({}) {{permutation = (1, 0, 2)}}
  %5: f32[64, 128] = reshape(%4) {{shape = [64, 128]}}
  %6: f32[64, 64] = dot_general(%5, %2) {{a_contract = (1), b_contract = (0), a_batch = (), b_batch = (), accumulate = f32}}
  return %6 w
}})",
        operand)));
  };
  const Planned copied = planned(product("%0"), simt_model());
  EXPECT_EQ(copied.kernels(), 2U) << copied.plan;
  EXPECT_THAT(copied.plan, HasSubstr("writes %4"));
  const Planned made = planned(product("%3"), simt_model());
  EXPECT_EQ(made.kernels(), 2U) << made.plan;
  EXPECT_THAT(made.plan, Not(HasSubstr("writes %4")));
}

// Nor is a broadcast of a smaller value stored.
TEST(Fusion, ReductionsOfMuchTheSameShareItsComputation) {
  constexpr const char* kGraph = R"(graph(%0 x: f32[64, 1000], %1 y: f32[64, 1000], %2 z: f32[64]) {
  %3: f32[64, 1000] = sin(%0)
  %4: f32[64, 1000] = exp(%3)
  %5: f32[64, 1000] = sin(%4)
  %6: f32[64, 1000] = tan(%5)
  %7: f32[64, 1000] = broadcast_in_dim(%2) {shape = [64, 1000], dims = (0)}
  %8: f32[64, 1000] = mul(%6, %7)
  %9: f32[64] = reduce_max(%8) {dims = (1)}
  %10: f32[64, 1000] = mul(%8, %1)
  %11: f32[64] = reduce_max(%10) {dims = (1)}
  %12: f32[128] = concatenate(%9, %11) {dim = 0}
  return %12 greatest
})";
  const Planned p = planned(std::make_shared<prims::Graph>(prims::parse(kGraph)), simt_model());
  EXPECT_EQ(p.kernels(), 2U) << p.plan;
  for (const char* inner : {"writes %6", "writes %7", "writes %8", "writes %10"})
    EXPECT_THAT(p.plan, Not(HasSubstr(inner)));
}

// But not one of which they read other rows: the powers of a matrix.
TEST(Fusion, AReductionOfOthersRowsHasAKernelOfItsOwn) {
  const Planned p = planned(R"(graph(%0 x: f32[5, 5]) {
  %1: f32[5, 5, 5] = broadcast_in_dim(%0) {shape = [5, 5, 5], dims = (0, 1)}
  %2: f32[5, 5, 5] = broadcast_in_dim(%0) {shape = [5, 5, 5], dims = (1, 2)}
  %3: f32[5, 5, 5] = tan(%2)
  %4: f32[5, 5, 5] = mul(%1, %3)
  %5: f32[5, 5] = reduce_max(%4) {dims = (1)}
  %6: f32[5, 5, 5] = broadcast_in_dim(%5) {shape = [5, 5, 5], dims = (0, 1)}
  %7: f32[5, 5, 5] = mul(%6, %3)
  %8: f32[5, 5] = reduce_max(%7) {dims = (1)}
  return %8 y
})");
  EXPECT_EQ(p.kernels(), 2U) << p.plan;
}

TEST(Fusion, APlaceInTheInputIsWrittenBehindItsReaders) {
  const Planned p = planned(R"(graph(%0 x: f32[40]) {
  %1: f32[40] = reverse(%0) {dims = (0)}
  %2: f32[40] = exp(%1)
  %3: f32[] = reduce_max(%0) {dims = (0)}
  %4: f32[40] = neg(%0)
  return %4 x writes 0, %3 most
})");
  EXPECT_THAT(p.plan, Not(HasSubstr("aside"))) << p.plan;
  EXPECT_LT(p.plan.find("reduces"), p.plan.find("in place of input 0")) << p.plan;
}

TEST(Fusion, AnOutputThatWouldOverwriteWhatItReadsIsComputedAside) {
  const Planned p = planned(R"(graph(%0 x: f32[40]) {
  %1: f32[40] = reverse(%0) {dims = (0)}
  %2: f32[40] = add(%0, %1)
  return %2 x writes 0
})");
  EXPECT_THAT(p.plan, HasSubstr("output 0 is computed aside: %2 is made from the input"));
}

// A is made in place of x from y, B in place of y from x.
TEST(Fusion, OutputsThatOverwriteEachOthersOperandsAreNoCircle) {
  const Planned p = planned(R"(graph(%0 x: f32[40], %1 y: f32[30]) {
  %2: f32[30] = slice(%0) {start = [0], limit = [30], stride = [1]}
  %3: f32[30] = add(%1, %2)
  %4: f32[] = constant() {value = #0.0, dtype = f32, shape = []}
  %5: f32[40] = pad(%1, %4) {low = [0], high = [10], interior = [0]}
  %6: f32[40] = mul(%0, %5)
  return %6 x writes 0, %3 y writes 1
})");
  EXPECT_THAT(p.plan, HasSubstr("is computed aside")) << p.plan;
}

TEST(Fusion, AScansEpilogueIsPartOfItsKernel) {
  const Planned p = planned(R"(graph(%0 x: f32[4, 30], %1 y: f32[4]) {
  %2: f32[4, 30] = scan_sum(%0) {dim = 1}
  %3: f32[4, 30] = broadcast_in_dim(%1) {shape = [4, 30], dims = (0)}
  %4: f32[4, 30] = mul(%2, %3)
  return %4 y
})");
  EXPECT_EQ(p.kernels(), 1u) << p.plan;
}

// --- outputs in memory of inputs -------------------------------------------------------------

// On each kind of machine.
void check_everywhere(const char* text) {
  for (const kir::TargetModel& target : {emit::native_model(), simt_model()})
    planned(std::make_shared<prims::Graph>(prims::parse(text)), target);
}

TEST(FusionInPlace, AnOutputIsStoredBehindAllLoadsOfItsRow) {
  check_everywhere(R"(graph(%0 x: i32[7, 50], %1 y: i32[7], %2 z: i32[7]) {
  %3: i32[7] = reduce_max(%0) {dims = (1)}
  %4: i32[7] = add(%1, %3)
  %5: i32[7, 50] = broadcast_in_dim(%3) {shape = [7, 50], dims = (0)}
  %6: i32[7, 50] = sub(%0, %5)
  %7: i32[7, 50] = mul(%0, %6)
  return %2 row writes 1, %4 sum, %6 apart writes 0, %7 product
})");
}

TEST(FusionInPlace, AnOutputIsStoredBehindAllLoadsOfAScansElement) {
  check_everywhere(R"(graph(%0 x: f32[3, 33], %1 y: f32[3, 33], %2 n: i16[3, 33]) {
  %3: i16[3, 33] = scan_prod(%2) {dim = 1}
  %4: i16[3, 33] = bit_or(%2, %3)
  %5: f32[3, 33] = neg(%1)
  return %5 minus, %4 bits, %0 copy writes 1
})");
}

// A thread whose element is padding reads no other one, which its neighbour may be writing.
TEST(FusionInPlace, WhatIsMaskedOffReadsNothingThatIsWritten) {
  auto graph = std::make_shared<prims::Graph>(
      prims::parse(R"(graph(%0 x: f16[130], %1 y: f16[], %2 z: i32[130]) {
  %3: f16[131] = pad(%0, %1) {low = [1], high = [0], interior = [0]}
  %4: i32[] = reduce_and(%2) {dims = (0)}
  %5: i32[130] = broadcast_in_dim(%4) {shape = [130], dims = ()}
  %6: f16[130] = slice(%3) {start = [1], limit = [131], stride = [1]}
  %7: f16[130] = ceil(%6)
  return %5 bits, %7 x writes 0
})"));
  planned(graph, ballot_model(16));
}

TEST(FusionInPlace, TwoInputsChangePlaces) {
  const Planned p = planned(R"(graph(%0 x: f32[130, 3], %1 y: f32[130, 3]) {
  return %0 a writes 1, %1 b writes 0
})");
  EXPECT_THAT(p.plan, HasSubstr("output 0 is computed aside")) << p.plan;
}

TEST(FusionInPlace, ANumberIsComputedAside) {
  check_everywhere(R"(graph(%0 a: i64 scalar, %1 x: i64[], %2 y: i64[], %3 p: bool[], %4 z: i64[]) {
  %5: i64[] = neg(%1)
  %6: c64[] = convert(%2) {dtype = c64}
  %7: i64[] = select(%3, %5, %4)
  %17: c64[], %18: i64[], %19: i64[] = cond(%3, %6, %7, %7) region(%8: c64[], %9: i64[], %10: i64[]) {
    %11: i64[] = abs(%4)
    %12: i64[] = abs(%9)
    return %8, %11, %12
  } region(%13: c64[], %14: i64[], %15: i64[]) {
    %16: i64[] = sign(%15)
    return %13, %16, %15
  }
  %20: i64[] = neg(%18)
  return %0 number writes 2, %20 twice, %5 minus, %20 again
})");
}

// --- rows, loops and sizes that the run makes ------------------------------------------------

// Two groups over rows whose reduction needs a kernel before theirs, since they read what is sorted
// of its result.
TEST(Fusion, GroupsThatLoseTheirReductionStayWhole) {
  const Planned p = planned(R"(graph(%0 x: i32[6, 40]) {
  %1: i32[6] = reduce_max(%0) {dims = (1)}
  %2: i32[6] = sort(%1) {dim = 0, descending = false}
  %3: i32[6, 40] = broadcast_in_dim(%1) {shape = [6, 40], dims = (0)}
  %4: i32[6, 40] = broadcast_in_dim(%2) {shape = [6, 40], dims = (0)}
  %5: i32[6, 40] = sub(%0, %3)
  %6: i32[6, 40] = add(%5, %4)
  %7: i32[6, 40] = mul(%0, %3)
  %8: i32[6, 40] = add(%7, %4)
  %9: i32[6, 40] = sort(%8) {dim = 1, descending = false}
  return %6 sum, %9 sorted
})");
  EXPECT_THAT(p.plan, HasSubstr("its reader also needs what is made of it elsewhere")) << p.plan;
}

TEST(Fusion, ASortMakesARowOfAStack) {
  check_everywhere(R"(graph(%0 x: i32[5, 7]) {
  %4: i32[5, 7], %5: i32[3, 5, 7] = for_loop(%0) {count = <3>, stacked = 1} region(%1: i64[], %2: i32[5, 7]) {
    %3: i32[5, 7] = sort(%2) {dim = 1, descending = false}
    %6: i32[5, 7] = neg(%3)
    return %6, %3
  }
  return %5 rows
})");
}

TEST(FusionRunTimeSizes, AResultThatIsWantedTwiceWaitsForItsSize) {
  check_everywhere(R"(symbol u0 = 40 min 0
graph(%0 x: i32[40], %1 mask: bool[40]) {
  %2: i32[40], %3: i64[] = compact(%0, %1)
  %4: i32[u0] = set_dim(%2, %3) {dim = 0}
  return %4 a, %4 b
})");
}

TEST(FusionRunTimeSizes, ASizeThatNothingHasIsNotRead) {
  const auto reads = [](const std::string& more) {
    auto graph = std::make_shared<prims::Graph>(prims::parse(
        "symbol u0 = 40 min 0\nsymbol u1 = 40 min 0\ngraph(%0 x: i32[40], %1 mask: bool[40]) {\n"
        "  %2: i32[40], %3: i64[] = compact(%0, %1)\n  %4: i32[u0] = set_dim(%2, %3) {dim = 0}\n"
        "  %5: i32[u1] = set_dim(%0, %3) {dim = 0}\n" +
        more + "\n}"));
    const Program program = schedule(graph, simt_model(), row_major_options(*graph));
    return std::ranges::count_if(
        program.steps, [](const Step& s) { return std::holds_alternative<ReadCountStep>(s.step); });
  };
  EXPECT_EQ(reads("  return %4 a"), 1);
  EXPECT_EQ(reads("  return %4 a, %5 b"), 2);
  EXPECT_EQ(
      reads("  %6: i64[u1] = iota() {shape = [u1], dim = 0, dtype = i64}\n  return %4 a, %6 b"), 2);
}

// The reduction's kernel could make the count too, if it did not need the size that is read of it.
TEST(FusionRunTimeSizes, AKernelMakesNoCountThatItWaitsFor) {
  check_everywhere(R"(symbol u0 = 40 min 0
graph(%0 x: i32[40], %1 n: i64[]) {
  %2: i64[] = abs(%1)
  %3: i64[] = constant() {value = #40, dtype = i64, shape = []}
  %4: i64[] = min(%2, %3)
  %5: i32[u0] = set_dim(%0, %4) {dim = 0}
  %6: i32[] = convert(%4) {dtype = i32}
  %7: i32[u0] = broadcast_in_dim(%6) {shape = [u0], dims = ()}
  %8: i32[u0] = add(%5, %7)
  %9: i32[] = reduce_sum(%8) {dims = (0)}
  return %9 sum
})");
}

// There is no first element for loads that are masked off to point at.
TEST(FusionRunTimeSizes, WhatIsEmptyIsNotRead) {
  check_everywhere(R"(symbol u0 = 40 min 0
graph(%0 x: i32[40], %1 y: i32[9], %2 none: i32[0], %3 at: i64[]) {
  %4: bool[40] = constant() {value = #false, dtype = bool, shape = [40]}
  %5: i32[40], %6: i64[] = compact(%0, %4)
  %7: i32[u0] = set_dim(%5, %6) {dim = 0}
  %8: i32[u0] = scan_sum(%7) {dim = 0}
  %9: i32[u0 + 9] = concatenate(%8, %1) {dim = 0}
  %10: i32[40] = dynamic_update_slice(%0, %2, %3)
  return %9 joined, %10 updated
})");
}

TEST(FusionRunTimeSizes, AnEmptyResultOfAnyStridesHasAnExtent) {
  auto graph = std::make_shared<prims::Graph>(prims::parse(R"(symbol s0 = 5 min 2
symbol n1 = 5 min 0
graph(%0 x: i32[s0, 3]) {
  %1: i32[s0 - n1, 3] = slice(%0) {start = [n1, 0], limit = [s0, 3], stride = [1, 1]}
  return %1 rest
})"));
  Options options = row_major_options(*graph);
  options.outputs[0].strides = {7, 2};
  const Program program = schedule(graph, simt_model(), options);
  check_program(*graph, program, options, simt_model(), {5, 5}, {});
}

// --- limits of a kernel ----------------------------------------------------------------------

TEST(FusionLimits, AChainIsCutWhereItIsTooDeep) {
  const Planned p = planned(built([](prims::Builder& b) {
                              ValueId x = b.tensor_input("x", {DType::i32, {8}});
                              const ValueId y = b.tensor_input("y", {DType::i32, {8}});
                              for (int i = 0; i < 3000; ++i)
                                x = b.binary(i % 2 ? Prim::add : Prim::bit_xor, x, y);
                              b.output("z", x);
                            }),
                            emit::native_model());
  EXPECT_GE(p.kernels(), 7u);
  EXPECT_LE(p.kernels(), 12u);
  EXPECT_THAT(p.plan, HasSubstr("its reader is as deep as a kernel may be"));
}

TEST(FusionLimits, ASumOfManyInputsIsCutWhereParametersEnd) {
  kir::TargetModel target = emit::native_model();
  const Planned p =
      planned(built([](prims::Builder& b) {
                std::vector<ValueId> x;
                for (int i = 0; i < 900; ++i)
                  x.push_back(b.tensor_input("x" + std::to_string(i), {DType::i32, {8}}));
                while (x.size() > 1) {
                  std::vector<ValueId> sums;
                  for (size_t i = 0; i + 1 < x.size(); i += 2)
                    sums.push_back(b.binary(Prim::add, x[i], x[i + 1]));
                  if (x.size() % 2 != 0) sums.push_back(x.back());
                  x = sums;
                }
                b.output("sum", x[0]);
              }),
              target);
  EXPECT_GT(p.kernels(), 1u);
  EXPECT_LT(p.kernels(), 60u);
  EXPECT_THAT(p.plan, HasSubstr("its reader has as many parameters as a kernel may"));
}

// Of inputs and of what is computed from them; on a CPU by one step that copies each operand.
TEST(FusionLimits, ALongConcatenationIsWrittenInParts) {
  for (const bool computed : {false, true}) {
    const auto graph = built([&](prims::Builder& b) {
      std::vector<ValueId> x;
      for (int i = 0; i < 500; ++i) {
        x.push_back(b.tensor_input("x" + std::to_string(i), {DType::i32, {3, 2 + i % 3}}));
        if (computed && i > 1) x.back() = b.unary(Prim::neg, x.back());
      }
      b.output("y", b.concatenate(x, 1));
    });
    const Planned p = planned(graph, simt_model());
    EXPECT_GT(p.kernels(), 1u) << p.plan;
    EXPECT_LE(p.kernels(), 11u) << p.plan;
    EXPECT_THAT(p.plan, HasSubstr("its reader has as many parameters as a kernel may"));
    EXPECT_THAT(planned(graph, emit::native_model()).plan, HasSubstr("concatenation"));
  }
}

// Each column sum is of all sums before it: without a limit every kernel would begin at x.
TEST(FusionLimits, WhatIsMadeOfRowsAndColumnsInTurnDoesNotGrow) {
  const Planned p = planned(built([](prims::Builder& b) {
                              ValueId x = b.tensor_input("x", {DType::f32, {6, 7}});
                              for (int i = 0; i < 60; ++i) {
                                const ValueId sum = b.reduce(Prim::reduce_max, x, {i % 2});
                                x = b.binary(Prim::sub, b.unary(Prim::neg, x),
                                             b.broadcast_in_dim(sum, {6, 7}, {1 - i % 2}));
                              }
                              b.output("y", x);
                            }),
                            emit::native_model());
  size_t most = 0;
  for (const kir::Kernel& k : p.program.kernels) most = std::max(most, k.params.size());
  EXPECT_LE(most, 16u) << p.plan;
}

void expect_sound(const prims::Graph& g) {
  const Options options = row_major_options(g);
  const Machine machine(emit::native_model());
  const StagedSchedule s(g, machine, options);
  EXPECT_THAT(violations(s.plan(), s.graph(), machine.limits), testing::IsEmpty());
}

// The long way from a value to an operand counts, whichever is asked first.
TEST(FusionLimits, AChainWithShortCutsIsCutWhereItIsTooDeep) {
  expect_sound(*built([](prims::Builder& b) {
    ValueId x = b.tensor_input("x", {DType::i32, {8}}), y = b.tensor_input("y", {DType::i32, {8}});
    for (int i = 0; i < 1500; ++i) y = std::exchange(x, b.binary(Prim::sub, x, y));
    b.output("z", x);
  }));
}

TEST(FusionLimits, WhatIsAskedForAtManyIndicesCountsForEachOfThem) {
  expect_sound(*built([](prims::Builder& b) {
    ValueId x = b.tensor_input("x", {DType::f32, {8}});
    for (int i = 0; i < 12; ++i)
      x = b.concatenate({b.unary(Prim::tanh, x), b.reverse(x, {0}), b.unary(Prim::neg, x)}, 0);
    b.output("y", x);
  }));
}

}  // namespace
}  // namespace primset::schedule
