#include "decomps/engine/narrow_floats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "prims/graph/text.h"
#include "prims/graph/verifier.h"

namespace primset::decomps {
namespace {

using testing::HasSubstr;
using testing::Not;

const auto kAllKnown = [](const prims::SymInt&) { return true; };

std::string narrowed(const char* text) {
  prims::Graph g = prims::parse(text);
  narrow_floats(g, kAllKnown);
  prims::verify_or_throw(g);
  return prims::print(g);
}

TEST(NarrowFloats, ArraysBecomeF32AndNumbersOfTheHostStay) {
  const std::string text = narrowed(
      "graph(%0 x: f32[4], %1 rate: f64 scalar) {\n"
      "  %2: f64[4] = convert(%0) {dtype = f64}\n"
      "  %3: f64[] = sqrt(%1)\n"
      "  %4: f64[4] = broadcast_in_dim(%3) {shape = [4], dims = ()}\n"
      "  %5: f64[4] = mul(%2, %4)\n"
      "  %6: f32[4] = convert(%5) {dtype = f32}\n"
      "  return %6 y\n}");
  EXPECT_THAT(text, HasSubstr("f64[] = sqrt"));
  EXPECT_THAT(text, HasSubstr("f32[] = convert"));
  EXPECT_THAT(text, Not(HasSubstr("f64[4]")));
}

TEST(NarrowFloats, ConstantsAndComplexNumbersToo) {
  const std::string text = narrowed(
      "graph(%0 x: c64[2]) {\n"
      "  %1: c128[2] = convert(%0) {dtype = c128}\n"
      "  %2: c128[2] = constant() {value = #0.5, dtype = c128, shape = [2]}\n"
      "  %3: c128[2] = complex_mul(%1, %2)\n"
      "  %4: c64[2] = convert(%3) {dtype = c64}\n"
      "  return %4 y\n}");
  EXPECT_THAT(text, Not(HasSubstr("c128")));
}

TEST(NarrowFloats, RegionsMeetHostNumbersAsTheirs) {
  const std::string text = narrowed(
      "graph(%0 p: bool[], %1 x: f32[], %2 rate: f64 scalar) {\n"
      "  %9: f64[] = convert(%1) {dtype = f64}\n"
      "  %3: f64[] = cond(%0, %9)\n"
      "    region(%4: f64[]) { %5: f64[] = mul(%4, %2)\n      return %5 }\n"
      "    region(%6: f64[]) { return %6 }\n"
      "  %7: f32[] = convert(%3) {dtype = f32}\n"
      "  return %7 y\n}");
  EXPECT_THAT(text, HasSubstr("%2 rate: f64 scalar"));
  EXPECT_THAT(text, HasSubstr("f32[] = cond"));
  EXPECT_THAT(text, HasSubstr("f32[] = mul"));
}

TEST(NarrowFloats, TensorsOfF64AreLeftForTheDeviceToRefuse) {
  constexpr const char* kText =
      "graph(%0 x: f64[4]) {\n"
      "  %1: f64[4] = sqrt(%0)\n"
      "  return %1 y\n}";
  EXPECT_EQ(narrowed(kText), prims::print(prims::parse(kText)));
}

TEST(NarrowFloats, SizesThatOnlyTheRunTellsAreNoHostNumbers) {
  prims::Graph g = prims::parse(
      "symbol s0 = 4\n"
      "graph(%0 x: f32[s0], %1 a: f64 scalar) {\n"
      "  %2: f64[] = constant() {value = <s0>, dtype = f64, shape = []}\n"
      "  %3: f64[] = mul(%1, %2)\n"
      "  return %1 a, %3 b\n}");
  const auto known = host_numbers(g, kAllKnown);
  const auto unknown = host_numbers(g, [](const prims::SymInt&) { return false; });
  EXPECT_EQ(known, (std::vector<bool>{false, true, true, true}));
  EXPECT_EQ(unknown, (std::vector<bool>{false, true, false, false}));
}

}  // namespace
}  // namespace primset::decomps
