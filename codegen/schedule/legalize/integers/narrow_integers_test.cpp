// Without 64-bit integers a graph means the same, or is refused.
#include "codegen/schedule/legalize/integers/narrow_integers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "codegen/schedule/testing/program_runner.h"
#include "codegen/schedule/testing/schedule_test_util.h"
#include "prims/graph/text.h"
#include "primset/error.h"

namespace primset::schedule {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string narrowed(const std::string& text) {
  prims::Graph g = prims::parse(text);
  narrow_integers(g);
  return prims::print(g);
}

std::string refusal(const std::string& text) {
  try {
    narrowed(text);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::not_implemented);
    return e.what();
  }
  return "none";
}

// Row i is element i * factor.
std::string lookup(const std::string& factor, const std::string& shape = "4, 3") {
  return "symbol s0 = 7\n"
         "graph(%0 x: f32[s0]) {\n"
         "  %1: i64[" +
         shape + "] = iota() {shape = [" + shape +
         "], dim = 0, dtype = i64}\n"
         "  %2: i64[" +
         shape + "] = constant() {value = " + factor + ", dtype = i64, shape = [" + shape +
         "]}\n"
         "  %3: i64[" +
         shape +
         "] = mul(%1, %2)\n"
         "  %4: f32[" +
         shape +
         "] = gather(%0, %3) {dims = (0), in_bounds = false}\n"
         "  return %4 y\n}";
}

TEST(NarrowIntegers, IndicesThatFitBecomeI32) {
  const std::string text = narrowed(lookup("#1000"));
  EXPECT_THAT(text, Not(HasSubstr("i64")));
  EXPECT_THAT(text, HasSubstr("mul"));
  // 3 * 715,827,882 is the last multiple below 2^31.
  EXPECT_THAT(narrowed(lookup("#715827882")), Not(HasSubstr("i64")));
  EXPECT_THAT(refusal(lookup("#715827883")),
              HasSubstr("i64 that may not fit 32 bits (mul), and the device has no 64-bit"));
}

TEST(NarrowIntegers, SizesAreHeldToItByGuards) {
  const std::string text = narrowed(lookup("<s0>", "s0, 3"));
  EXPECT_THAT(text, Not(HasSubstr("i64")));
  EXPECT_THAT(text, HasSubstr("guard"));
}

TEST(NarrowIntegers, BoundsGoThroughRegionsAndReductions) {
  const std::string counted = narrowed(
      "graph(%0 x: bool[5, 6], %1 y: f32[9]) {\n"
      "  %2: i64[5, 6] = convert(%0) {dtype = i64}\n"
      "  %3: i64[5] = reduce_sum(%2) {dims = (1)}\n"
      "  %4: f32[5] = gather(%1, %3) {dims = (0), in_bounds = true}\n"
      "  return %4 y\n}");
  EXPECT_THAT(counted, Not(HasSubstr("i64")));
  const std::string loop =
      "graph(%0 x: f32[4], %1 start: i32[]) {\n"
      "  %2: i64[] = constant() {value = #1, dtype = i64, shape = []}\n"
      "  %3: i64[] = for_loop(%2) {count = 3, stacked = 0} region(%4: i64[], %5: i64[]) {\n"
      "    %6: i64[] = OP(%5, %4)\n    return %6\n  }\n"
      "  %7: f32[1] = dynamic_slice(%0, %3) {sizes = [1]}\n"
      "  return %7 y\n}";
  const auto with = [&](const char* op) {
    return std::string(loop).replace(loop.find("OP"), 2, op);
  };
  // A remainder is never above what it is of; sums may grow with every round.
  EXPECT_THAT(narrowed(with("rem")), Not(HasSubstr("i64")));
  EXPECT_THAT(refusal(with("add")), HasSubstr("may not fit 32 bits"));
}

TEST(NarrowIntegers, WhatMayBeAnyNumberIsRefused) {
  const auto converted = [](const char* from) {
    return std::string("graph(%0 x: ") + from +
           "[4]) {\n"
           "  %1: i64[4] = convert(%0) {dtype = i64}\n"
           "  %2: i64[4] = constant() {value = #1, dtype = i64, shape = [4]}\n"
           "  %3: i64[4] = sub(%1, %2)\n"
           "  %4: f32[4] = convert(%3) {dtype = f32}\n"
           "  return %4 y\n}";
  };
  EXPECT_THAT(narrowed(converted("i16")), Not(HasSubstr("i64")));
  EXPECT_THAT(refusal(converted("i32")), HasSubstr("may not fit"));  // the least one less one
  EXPECT_THAT(refusal(converted("u32")), HasSubstr("may not fit"));
  EXPECT_THAT(refusal(converted("f32")), HasSubstr("may not fit"));
}

TEST(NarrowIntegers, WhatChecksAloneShowNeedNotFit) {
  const std::string text =
      "graph(%0 x: f32[], %1 p: bool[]) {\n"
      "  %2: i64[] = convert(%0) {dtype = i64}\n"
      "  check(%1, %2) {code = \"runtime\", message = \"{value}\"}\n"
      "  return %1 y\n}";
  EXPECT_THAT(narrowed(text), Not(HasSubstr("i64")));
}

kir::TargetModel without_i64(kir::TargetModel m) {
  m.i64 = m.f64 = m.atomic_i64 = false;
  return m;
}

// The verifier of kernels, which the runner asks, refuses those with an i64 in them.
void runs_without_i64(const std::string& text, int64_t index_bound = 0) {
  auto graph = std::make_shared<const prims::Graph>(prims::parse(text));
  const Options options = row_major_options(*graph);
  for (const auto& target : {without_i64(kir::TargetModel()), without_i64(simt_model())}) {
    const Program program = schedule(graph, Machine(target), options);
    check_program(*graph, program, options, target, {}, {.name = text, .index_bound = index_bound});
  }
}

TEST(WithoutI64, ProgramsGiveWhatTheReferenceGives) {
  // A count, an extremum's place and a look-up by it; a scan's.
  runs_without_i64(
      "graph(%0 x: f32[40, 300]) {\n"
      "  %1: i64[40] = argmax(%0) {dim = 1}\n"
      "  %2: f32[40] = convert(%1) {dtype = f32}\n"
      "  %3: f32[40, 300], %4: i64[40, 300] = scan_max(%0) {dim = 1}\n"
      "  %5: i32[40, 300] = convert(%4) {dtype = i32}\n"
      "  return %2 y, %5 z\n}");
  // A sort with places, and what they were.
  runs_without_i64(
      "graph(%0 x: f32[3, 50]) {\n"
      "  %1: i64[3, 50] = iota() {shape = [3, 50], dim = 1, dtype = i64}\n"
      "  %2: f32[3, 50], %3: i64[3, 50] = sort(%0, %1) {dim = 1, descending = true}\n"
      "  %4: i32[3, 50] = convert(%3) {dtype = i32}\n"
      "  return %2 y, %4 z\n}");
  runs_without_i64(
      "graph(%0 x: f32[70], %1 p: bool[70]) {\n"
      "  %2: f32[70], %3: i64[] = compact(%0, %1)\n"
      "  %4: i32[] = convert(%3) {dtype = i32}\n"
      "  return %4 y\n}");
  runs_without_i64(
      "graph(%0 a: f32[70, 64], %1 b: f32[64, 80]) {\n"
      "  %2: f32[70, 80] = dot_general(%0, %1) {a_contract = (1), b_contract = (0), "
      "a_batch = (), b_batch = (), accumulate = f32}\n"
      "  return %2 y\n}");
}

// Of every magnitude: ATen makes narrow unsigned numbers of i64.
TEST(WithoutI64, FloatsBecomeTheLowBitsOfI64) {
  constexpr int kCount = 512;
  const auto graph = std::make_shared<const prims::Graph>(
      prims::parse("graph(%0 x: f32[512]) {\n"
                   "  %1: u8[512] = convert(%0) {dtype = u8}\n"
                   "  %2: u16[512] = convert(%0) {dtype = u16}\n"
                   "  %3: u32[512] = convert(%0) {dtype = u32}\n"
                   "  return %1 y, %2 z, %3 w\n}"));
  std::vector<float> x;
  for (int i = 0; i < kCount; ++i) {
    const float magnitude = std::ldexp(1.0F + static_cast<float>(i * 37 % 101) / 101, i / 4 - 40);
    x.push_back(i % 2 ? -magnitude : magnitude);
  }
  x[0] = std::numeric_limits<float>::quiet_NaN();
  x[1] = -std::numeric_limits<float>::infinity();
  std::vector<std::byte> bytes(sizeof(float) * kCount);
  std::memcpy(bytes.data(), x.data(), bytes.size());
  const kir::TargetModel target = without_i64(kir::TargetModel());
  const Program program = schedule(graph, Machine(target), row_major_options(*graph));
  const std::vector<RunnerTensor> inputs = {{bytes}};
  const RunnerResult result = run_program(program, target, inputs, {});
  for (size_t i = 0; i < kCount; ++i) {
    const bool fits = -0x1p63F <= x[i] && x[i] < 0x1p63F;
    const auto wide = static_cast<uint64_t>(fits ? static_cast<int64_t>(x[i]) : INT64_MIN);
    uint8_t byte = 0;
    uint16_t half = 0;
    uint32_t word = 0;
    std::memcpy(&byte, result.outputs[0].bytes.data() + i, 1);
    std::memcpy(&half, result.outputs[1].bytes.data() + 2 * i, 2);
    std::memcpy(&word, result.outputs[2].bytes.data() + 4 * i, 4);
    EXPECT_EQ(byte, static_cast<uint8_t>(wide)) << x[i];
    EXPECT_EQ(half, static_cast<uint16_t>(wide)) << x[i];
    EXPECT_EQ(word, static_cast<uint32_t>(wide)) << x[i];
  }
}

TEST(WithoutI64, IndicesBeyond32BitsAreRefused) {
  const auto graph = std::make_shared<const prims::Graph>(
      prims::parse("graph(%0 x: f32[4]) {\n  %1: f32[4] = exp(%0)\n  return %1 y\n}"));
  Options options = row_major_options(*graph);
  options.index32 = false;
  try {
    schedule(graph, Machine(without_i64(simt_model())), options);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::not_implemented);
    EXPECT_THAT(e.what(), HasSubstr("more elements than 32-bit indices reach"));
  }
}

}  // namespace
}  // namespace primset::schedule
