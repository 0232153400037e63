// What shares a kernel, and what the plan says of the rest; each graph is run too, and its results
// held against the reference's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <variant>

#include "codegen/emit/llvm/testing/native_runner.h"
#include "codegen/schedule/schedule.h"
#include "codegen/schedule/testing/program_runner.h"
#include "codegen/schedule/testing/schedule_test_util.h"
#include "prims/graph/builder.h"
#include "prims/graph/text.h"

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

// On both kinds of machine, of inputs and of what is computed from them.
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
    for (const kir::TargetModel& target : {emit::native_model(), simt_model()}) {
      const Planned p = planned(graph, target);
      EXPECT_GT(p.kernels(), 1u) << p.plan;
      EXPECT_LE(p.kernels(), 11u) << p.plan;
      EXPECT_THAT(p.plan, HasSubstr("its reader has as many parameters as a kernel may"));
    }
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

}  // namespace
}  // namespace primset::schedule
