// Numbers that a device without f64 cannot compute in are computed by the host, and mean the same.
#include "sdk/runtime/plan/host_scalars.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "prims/graph/text.h"
#include "prims/graph/verifier.h"

namespace primset::runtime {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Taken {
  prims::Graph graph;
  std::optional<HostScalars> scalars;
  std::vector<decomps::InputSource> sources;
};

Taken take(const char* text, bool sizes_are_known = true) {
  Taken t{prims::parse(text), {}, {}};
  t.sources.resize(t.graph.inputs.size());
  t.scalars =
      take_host_scalars(t.graph, t.sources,
                        {.lacks = [](DType d) { return d == DType::f64 || d == DType::c128; },
                         .is_known = [&](const prims::SymInt&) { return sizes_are_known; }});
  prims::verify_or_throw(t.graph);
  EXPECT_EQ(t.sources.size(), t.graph.inputs.size());
  return t;
}

TEST(HostScalars, AnExpressionBecomesOneMoreScalar) {
  const Taken t = take(
      "graph(%0 x: f32[4], %1 alpha: f64 scalar, %2 beta: i64 scalar) {\n"
      "  %3: f64[] = convert(%2) {dtype = f64}\n"
      "  %4: f64[] = constant() {value = #0.5, dtype = f64, shape = []}\n"
      "  %5: f64[] = pow(%1, %4)\n"
      "  %6: f64[] = add(%5, %3)\n"
      "  %7: f32[] = convert(%6) {dtype = f32}\n"
      "  %8: f32[4] = broadcast_in_dim(%7) {shape = [4], dims = ()}\n"
      "  %9: f32[4] = mul(%0, %8)\n"
      "  return %9 y\n}");
  ASSERT_TRUE(t.scalars);
  EXPECT_EQ(t.scalars->inputs, (std::vector<uint32_t>{1, 2}));
  EXPECT_THAT(prims::print(t.graph), HasSubstr("number: f32 scalar"));
  EXPECT_THAT(prims::print(t.graph), Not(HasSubstr("f64[]")));
  const std::vector<Scalar> values = t.scalars->evaluate(std::vector<Scalar>{2.0, 3});
  ASSERT_EQ(values.size(), 1u);
  EXPECT_EQ(values[0].to_double(), static_cast<double>(static_cast<float>(std::sqrt(2.0) + 3)));
}

TEST(HostScalars, SizesAreAmongTheirOperands) {
  constexpr const char* kRoot =
      "symbol s0 = 4\n"
      "graph(%0 x: f32[s0]) {\n"
      "  %1: f64[] = constant() {value = <s0>, dtype = f64, shape = []}\n"
      "  %2: f64[] = sqrt(%1)\n"
      "  %3: f32[] = convert(%2) {dtype = f32}\n"
      "  %4: f32[s0] = broadcast_in_dim(%3) {shape = [s0], dims = ()}\n"
      "  %5: f32[s0] = mul(%0, %4)\n"
      "  return %5 y\n}";
  const Taken t = take(kRoot);
  ASSERT_TRUE(t.scalars);
  ASSERT_EQ(t.scalars->sizes.size(), 1u);
  EXPECT_EQ(t.scalars->evaluate(std::vector<Scalar>{int64_t{9}})[0].to_double(), 3.0);
  EXPECT_FALSE(take(kRoot, false).scalars) << "the device alone knows the size";
}

TEST(HostScalars, WhatTheDeviceComputesInStaysThere) {
  const Taken t = take(
      "graph(%0 x: f32[4], %1 alpha: f32 scalar) {\n"
      "  %2: f32[] = sqrt(%1)\n"
      "  %3: f32[4] = broadcast_in_dim(%2) {shape = [4], dims = ()}\n"
      "  %4: f32[4] = mul(%0, %3)\n"
      "  return %4 y\n}");
  EXPECT_FALSE(t.scalars);
  EXPECT_EQ(t.graph.inputs.size(), 2u);
  EXPECT_THAT(prims::print(t.graph), HasSubstr("sqrt"));
}

// The message's number, as far as it fits.
TEST(HostScalars, ChecksShowNumbersOf32BitsWithoutI64) {
  Taken t{prims::parse("graph(%0 p: bool[], %1 n: i64 scalar) {\n"
                       "  %2: i64[] = neg(%1)\n"
                       "  check(%0, %2) {code = \"runtime\", message = \"{value}\"}\n"
                       "  return %0 y\n}"),
          {},
          {}};
  t.sources.resize(2);
  t.scalars = take_host_scalars(t.graph, t.sources,
                                {.lacks = [](DType d) { return d == DType::i64; },
                                 .is_known = [](const prims::SymInt&) { return true; }});
  ASSERT_TRUE(t.scalars);
  EXPECT_THAT(prims::print(t.graph), HasSubstr("number: i32 scalar"));
  const auto shown = [&](int64_t n) {
    return t.scalars->evaluate(std::vector<Scalar>{n}).at(0).to_int();
  };
  EXPECT_EQ(shown(17), -17);
  EXPECT_EQ(shown(int64_t{1} << 40), INT32_MIN);
  EXPECT_EQ(shown(-(int64_t{1} << 40)), INT32_MAX);
}

TEST(HostScalars, OperandsMayBeAbsent) {
  const Taken t = take(
      "graph(%0 q: f32[2, 3, 8], %1 k: f32[2, 4, 8], %2 v: f32[2, 4, 8], %3 alpha: f64 scalar) {\n"
      "  %4: f32[2, 3, 8], %5: f32[2, 3] = attention(%0, %1, %2, none) {causal = false, scale = "
      "#0.5}\n"
      "  %6: f64[] = sqrt(%3)\n"
      "  %7: f32[] = convert(%6) {dtype = f32}\n"
      "  %8: f32[2, 3] = broadcast_in_dim(%7) {shape = [2, 3], dims = ()}\n"
      "  %9: f32[2, 3] = mul(%5, %8)\n"
      "  return %4 y, %9 l\n}");
  ASSERT_TRUE(t.scalars);
  EXPECT_EQ(t.scalars->inputs, (std::vector<uint32_t>{3}));
}

TEST(HostScalars, NumbersThatNothingUsesGo) {
  const Taken t = take(
      "graph(%0 x: f32[4], %1 alpha: f64 scalar) {\n"
      "  %2: f64[] = constant() {value = #2, dtype = f64, shape = []}\n"
      "  %3: f64[] = mul(%1, %2)\n"
      "  %4: f32[4] = neg(%0)\n"
      "  return %4 y\n}");
  EXPECT_FALSE(t.scalars);
  EXPECT_EQ(t.graph.body.nodes.size(), 1u);
}

TEST(HostScalars, ComparisonsAndComplexNumbers) {
  const Taken t = take(
      "graph(%0 x: f32[2], %1 a: f64 scalar, %2 c: c128 scalar) {\n"
      "  %3: f64[] = constant() {value = #1.5, dtype = f64, shape = []}\n"
      "  %4: bool[] = lt(%1, %3)\n"
      "  %5: c64[] = convert(%2) {dtype = c64}\n"
      "  %6: bool[2] = broadcast_in_dim(%4) {shape = [2], dims = ()}\n"
      "  %7: c64[2] = broadcast_in_dim(%5) {shape = [2], dims = ()}\n"
      "  return %6 p, %7 z\n}");
  ASSERT_TRUE(t.scalars);
  const std::vector<Scalar> values =
      t.scalars->evaluate(std::vector<Scalar>{1.25, std::complex<double>(0.1, -2)});
  ASSERT_EQ(values.size(), 2u);
  EXPECT_TRUE(values[0].to_bool());
  EXPECT_EQ(values[1].to_complex(), (std::complex<double>(static_cast<double>(0.1f), -2)));
}

}  // namespace
}  // namespace primset::runtime
