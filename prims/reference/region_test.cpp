#include "prims/reference/elementwise.h"
#include "prims/reference/operation.h"
#include "prims/reference/testing/interpret.h"

namespace primset::prims::reference {
namespace {

Result run_text(const char* text, const std::vector<Array>& inputs) {
  return run(parse(text), inputs, {});
}

TEST(Map, AScalarProgram) {
  Result r = run_text(
      "graph(%0 x: f32[3], %1 y: f32[3]) {\n"
      "  %6: f32[3], %7: bool[3] = map(%0, %1) region(%2: f32[], %3: f32[]) {\n"
      "    %4: f32[] = mul(%2, %3)\n    %5: bool[] = lt(%2, %3)\n    return %4, %5 }\n"
      "  return %6 product, %7 less\n}",
      {f32({3}, {1, 2, 3}), f32({3}, {4, 1, 3})});
  expect_equal(r.outputs[0], f32({3}, {4, 2, 9}));
  expect_equal(r.outputs[1], integers(DType::boolean, {1, 0, 0}));
}

// Each element counts its own rounds: 1, 2, 4, ... until it is at least 100.
TEST(Map, LoopsInside) {
  Result r = run_text(
      "graph(%0 x: i64[3]) {\n"
      "  %8: i64[3] = map(%0) region(%1: i64[]) {\n"
      "    %7: i64[] = while_loop(%1)\n"
      "      region(%2: i64[]) { %3: i64[] = constant() {value = #100, dtype = i64, shape = []}\n"
      "        %4: bool[] = lt(%2, %3) return %4 }\n"
      "      region(%5: i64[]) { %6: i64[] = add(%5, %5) return %6 }\n"
      "    return %7 }\n"
      "  return %8 y\n}",
      {integers(DType::i64, {1, 60, 200})});
  expect_equal(first(r), integers(DType::i64, {128, 120, 200}));
}

TEST(Map, ForLoopAndCondInside) {
  Result r = run_text(
      "graph(%0 x: f32[2]) {\n"
      "  %12: f32[2] = map(%0) region(%1: f32[]) {\n"
      "    %5: f32[] = for_loop(%1) {count = <3>, stacked = 0} region(%2: i64[], %3: f32[]) {\n"
      "      %4: f32[] = add(%3, %3) return %4 }\n"
      "    %6: bool[] = lt(%1, %5)\n"
      "    %11: f32[] = cond(%6, %5)\n"
      "      region(%7: f32[]) { %8: f32[] = neg(%7) return %8 }\n"
      "      region(%9: f32[]) { return %9 }\n"
      "    return %11 }\n"
      "  return %12 y\n}",
      {f32({2}, {1, -1})});
  expect_equal(first(r), f32({2}, {-8, -8}));
}

const char* kReduceWithIndex =
    "graph(%0 x: f32[2, 3], %1 i: i64[2, 3]) {\n"
    "  %2: f32[] = constant() {value = #-inf, dtype = f32, shape = []}\n"
    "  %3: i64[] = constant() {value = #0, dtype = i64, shape = []}\n"
    "  %11: f32[2], %12: i64[2] = reduce(%0, %1, %2, %3) {dims = (1)}\n"
    "    region(%4: f32[], %5: i64[], %6: f32[], %7: i64[]) {\n"
    "      %8: bool[] = lt(%4, %6)\n"
    "      %9: f32[] = select(%8, %6, %4)\n"
    "      %10: i64[] = select(%8, %7, %5)\n"
    "      return %9, %10 }\n"
    "  return %11 value, %12 index\n}";

TEST(Reduce, SeveralValuesWithACombiner) {
  Array x = f32({2, 3}, {1, 5, 2, 7, 0, 7}), i = make_array(DType::i64, {2, 3});
  for (size_t k = 0; k < 6; ++k) i.data[k].integer = static_cast<int64_t>(k % 3);
  Result r = run_text(kReduceWithIndex, {x, i});
  expect_equal(r.outputs[0], f32({2}, {5, 7}));
  expect_equal(r.outputs[1], integers(DType::i64, {1, 0}));
}

const char* kSum =
    "graph(%0 x: f32[4], %1 zero: f32[]) {\n"
    "  %5: f32[] = reduce(%0, %1) {dims = (0)} region(%2: f32[], %3: f32[]) {\n"
    "    %4: f32[] = add(%2, %3) return %4 }\n"
    "  return %5 y\n}";

TEST(Reduce, ACombinerMayBeAppliedInAnotherOrder) {
  Element e =
      first(run_text(kSum, {f32({4}, {1, 1e-8, 1e-8, 1e-8}), number(DType::f32, 0)})).data[0];
  EXPECT_GT(e.error, 0);
  EXPECT_LT(e.error, 1e-5);
}

TEST(Scan, WithACombiner) {
  Result r = run_text(
      "graph(%0 x: i64[4], %1 one: i64[]) {\n"
      "  %5: i64[4] = scan(%0, %1) {dim = 0, ordered = false} region(%2: i64[], %3: i64[]) {\n"
      "    %4: i64[] = mul(%2, %3) return %4 }\n"
      "  return %5 y\n}",
      {integers(DType::i64, {1, 2, 3, 4}), number(DType::i64, 1)});
  expect_equal(first(r), integers(DType::i64, {1, 2, 6, 24}));
}

const char* kLoop =
    "symbol n = 3 min 0\n"
    "graph(%0 x: f32[2]) {\n"
    "  %4: f32[2], %5: i64[n] = for_loop(%0) {count = <n>, stacked = 1} region(%1: i64[], %2: "
    "f32[2]) {\n"
    "    %3: f32[2] = add(%2, %0)\n    return %3, %1 }\n"
    "  return %4 y, %5 steps\n}";

TEST(ForLoop, CarriesAndStacks) {
  Graph g = parse(kLoop);
  std::vector<Array> inputs = {f32({2}, {1, 10})};
  std::vector<int64_t> three = {3}, zero = {0};
  Result r = run(g, inputs, three);
  expect_equal(r.outputs[0], f32({2}, {4, 40}));
  expect_equal(r.outputs[1], integers(DType::i64, {0, 1, 2}));
  r = run(g, inputs, zero);
  expect_equal(r.outputs[0], f32({2}, {1, 10}));
  EXPECT_EQ(r.outputs[1].shape, Ints{0});
}

TEST(WhileLoop, OnArrays) {
  Result r = run_text(
      "graph(%0 x: f32[2], %1 limit: f32[]) {\n"
      "  %6: f32[2] = while_loop(%0)\n"
      "    region(%2: f32[2]) {\n"
      "      %3: f32[] = reduce_max(%2) {dims = (0)}\n      %4: bool[] = lt(%3, %1)\n      return "
      "%4 }\n"
      "    region(%7: f32[2]) { %5: f32[2] = add(%7, %7) return %5 }\n"
      "  return %6 y\n}",
      {f32({2}, {1, 3}), number(DType::f32, 20)});
  expect_equal(first(r), f32({2}, {8, 24}));
}

const char* kCond =
    "graph(%0 p: bool[], %1 x: f32[1]) {\n"
    "  %3: f32[1] = cond(%0, %1) region(%4: f32[1]) { %2: f32[1] = neg(%4) return %2 }\n"
    "    region(%5: f32[1]) { return %5 }\n"
    "  return %3 y\n}";

TEST(Cond, TakesABranch) {
  Array x = f32({1}, {3});
  expect_equal(first(run_text(kCond, {number(DType::boolean, 1), x})), f32({1}, {-3}));
  expect_equal(first(run_text(kCond, {number(DType::boolean, 0), x})), f32({1}, {3}));
  Array p = number(DType::boolean, 0);
  p.data[0].undecided = true;
  EXPECT_TRUE(first(run_text(kCond, {p, x})).data[0].undecided);
  EXPECT_FALSE(first(run_text(kCond, {p, f32({1}, {0})})).data[0].undecided);
}

TEST(Core, EveryPrimitiveHasAMeaning) {
  for (int i = 0; i < prim_count(); ++i) {
    auto p = static_cast<Prim>(i);
    if (info(p).tier == Tier::derived) continue;
    EXPECT_TRUE(find_operation(p) || find_elementwise(p)) << info(p).name;
  }
}

TEST(Derived, IsNotRun) {
  EXPECT_THROW(run_prim(Prim::sigmoid, {f32({1}, {0})}), Error);
}

}  // namespace
}  // namespace primset::prims::reference
