#include "codegen/kernel/transform/trip_count.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "codegen/kernel/ir/text.h"

namespace primset::kir {
namespace {

using Groups = std::array<uint32_t, 3>;

// The iterations of a kernel with the parameters (p: pointer, n: i64, m: i32).
uint64_t iterations(const std::string& body, int64_t n, int32_t m = 0, Groups groups = {1, 1, 1}) {
  const Kernel kernel = parse(
      "kernel @k(p: ptr<global> read write, n: i64, m: i32) group_size(64, 1, 1) {\n"
      "%p = param[0] : ptr<global>\n%n = param[1] : i64\n%m = param[2] : i32\n"
      "%zero = const 0 : i64\n%one = const 1 : i64\n" +
      body + "\n}");
  std::array<std::byte, 16> scalars{};
  std::memcpy(scalars.data(), &n, sizeof(n));
  std::memcpy(scalars.data() + 8, &m, sizeof(m));
  return max_iterations(kernel, groups, scalars);
}

// Up to n; `counter` is a name that nothing else has.
std::string loop_to_n(const std::string& counter = "i") {
  return "for %zero, %n, %one do (%" + counter + ": i64) { yield }";
}

TEST(MaxIterationsTest, ALoopGoesRoundUpToItsBoundAndLooksOnceMore) {
  EXPECT_EQ(iterations("", 7), 0u);
  EXPECT_EQ(iterations(loop_to_n(), 7), 8u);
  EXPECT_EQ(iterations(loop_to_n(), 0), 1u);
  EXPECT_EQ(iterations(loop_to_n(), -5), 1u);
  EXPECT_EQ(iterations(loop_to_n(), 100000), 100001u);
}

TEST(MaxIterationsTest, LoopsAfterEachOtherAddUpAndInsideEachOtherMultiply) {
  EXPECT_EQ(iterations(loop_to_n("a") + "\n" + loop_to_n("b"), 10), 22u);
  EXPECT_EQ(iterations("for %zero, %n, %one do (%o: i64) {\n" + loop_to_n() + "\nyield }", 10),
            10u * 12 + 1);
}

TEST(MaxIterationsTest, BothSidesOfAnIfCount) {
  EXPECT_EQ(iterations("%c = slt %n, %one : i1\nif %c then {\n" + loop_to_n("a") +
                           "\nyield } else {\n" + loop_to_n("b") + "\nyield }",
                       5),
            12u);
}

// One element a thread, or a few: what most kernels are.
TEST(MaxIterationsTest, AGridStrideLoop) {
  const std::string body =
      "%w = const 64 : i32\n%g = group_id[0] : i32\n%gw = mul %g, %w : i32\n"
      "%l = local_id[0] : i32\n%at = add %gw, %l : i32\n%c = group_count[0] : i32\n"
      "%step = mul %c, %w : i32\nfor %at, %m, %step do (%i: i32) { yield }";
  EXPECT_EQ(iterations(body, 0, 12), 2u);
  EXPECT_EQ(iterations(body, 0, 640, {10, 1, 1}), 2u);
  EXPECT_EQ(iterations(body, 0, 6401, {10, 1, 1}), 12u);
}

TEST(MaxIterationsTest, TheLesserOfTwoBoundsCounts) {
  const std::string loaded = "%x = load %p, %zero align 8 : i64\n";
  const std::string loop = "for %zero, %end, %one do (%i: i64) { yield }";
  EXPECT_EQ(iterations(loaded + "%c = slt %n, %x : i1\n%end = select %c, %n, %x : i64\n" + loop, 9),
            10u);
  EXPECT_GT(iterations(loaded + "%c = slt %n, %x : i1\n%end = select %c, %x, %n : i64\n" + loop, 9),
            uint64_t{1} << 62);
}

TEST(MaxIterationsTest, ABoundInsideTheOuterLoop) {
  // A triangle: the inner loop ends where the outer one is.
  EXPECT_EQ(iterations("for %zero, %n, %one do (%o: i64) {\n"
                       "for %zero, %o, %one do (%i: i64) { yield }\nyield }",
                       10),
            10u * 11 + 1);
}

TEST(MaxIterationsTest, WhatNobodyKnowsIsUnbounded) {
  const std::string loop = "for %zero, %x, %one do (%i: i64) { yield }";
  EXPECT_GT(iterations("%x = load %p, %zero align 8 : i64\n" + loop, 9), uint64_t{1} << 62);
  EXPECT_GT(iterations("%x = mul %n, %n : i64\n" + loop, int64_t{1} << 40), uint64_t{1} << 62);
  // A step that may be 0 or less.
  EXPECT_EQ(iterations("for %zero, %one, %n do (%i: i64) { yield }", 0), kUnbounded);
  // Deep nests do not wrap around.
  std::string nest = loop_to_n();
  for (int i = 0; i < 4; ++i)
    nest = "for %zero, %n, %one do (%v" + std::to_string(i) + ": i64) {\n" + nest + "\nyield }";
  EXPECT_EQ(iterations(nest, int64_t{1} << 40), kUnbounded);
}

TEST(MaxIterationsTest, AWhileLoopCountsForMany) {
  const std::string loop = "while cond {\n%c = slt %n, %one : i1\nyield %c\n} do { yield }";
  EXPECT_EQ(iterations(loop, 5), kWhileIterations);
}

}  // namespace
}  // namespace primset::kir
