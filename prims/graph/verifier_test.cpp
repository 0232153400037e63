#include "prims/graph/verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "prims/graph/text.h"
#include "primset/error.h"

namespace primset::prims {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Verifier, AcceptsASoundGraph) {
  EXPECT_THAT(
      verify(parse("graph(%0 x: f32[4]) {\n %1: f32[4] = neg(%0)\n return %1 y writes 0\n}")),
      IsEmpty());
}

TEST(Verifier, WrongResultType) {
  Graph g = parse("graph(%0 x: f32[4]) { %1: f32[5] = neg(%0) return %1 y }");
  EXPECT_THAT(verify(g), Contains(HasSubstr("%1 is f32[5], expected f32[4]")));
  EXPECT_THROW(verify_or_throw(g), Error);
}

TEST(Verifier, BrokenRule) {
  EXPECT_THAT(
      verify(parse("graph(%0 x: f32[4], %1 z: f32[3]) { %2: f32[4] = add(%0, %1) return %2 y }")),
      Contains(HasSubstr("add_c1")));
}

TEST(Verifier, MissingAttribute) {
  EXPECT_THAT(verify(parse("graph(%0 x: f32[4]) { %1: f32[4] = reshape(%0) return %1 y }")),
              Contains(HasSubstr("reshape_c0")));
}

TEST(Verifier, MissingGuard) {
  const char* text =
      "symbol a = 4\nsymbol b = 4\n"
      "graph(%0 x: f32[a], %1 z: f32[b]) { %2: f32[a] = add(%0, %1) return %2 y }";
  EXPECT_THAT(verify(parse(text)), Contains(HasSubstr("a guard that the graph lacks")));
}

TEST(Verifier, CaptureInAScalarRegion) {
  const char* text =
      "graph(%0 x: f32[4], %1 s: f32 scalar) {\n"
      "  %4: f32[4] = map(%0) region(%2: f32[]) { %3: f32[] = add(%2, %1) return %3 }\n"
      "  return %4 y\n}";
  EXPECT_THAT(verify(parse(text)), Contains(HasSubstr("not in scope")));
}

TEST(Verifier, ArrayInAScalarRegion) {
  const char* text =
      "graph(%0 x: f32[4]) {\n"
      "  %3: f32[4] = map(%0) region(%1: f32[]) {\n"
      "    %2: f32[4] = iota() {shape = [4], dim = 0, dtype = f32} return %1 }\n"
      "  return %3 y\n}";
  EXPECT_THAT(verify(parse(text)), Contains(HasSubstr("makes an array in a scalar region")));
}

TEST(Verifier, GraphRegionsMayCapture) {
  const char* text =
      "graph(%0 x: f32[4], %1 p: bool scalar) {\n"
      "  %3: f32[4] = cond(%1) region() { %2: f32[4] = neg(%0) return %2 } region() { return %0 }\n"
      "  return %3 y\n}";
  EXPECT_THAT(verify(parse(text)), IsEmpty());
}

TEST(Verifier, ValuesOfARegionEndWithIt) {
  const char* text =
      "graph(%0 x: f32[4], %1 p: bool scalar) {\n"
      "  %3: f32[4] = cond(%1) region() { %2: f32[4] = neg(%0) return %2 } region() { return %0 }\n"
      "  return %2 y\n}";
  EXPECT_THAT(verify(parse(text)), Contains(HasSubstr("not in scope")));
}

TEST(Verifier, OutputThatWritesAnInputOfAnotherType) {
  const char* text = "graph(%0 x: f32[4], %1 z: f64[4]) { return %0 y writes 1 }";
  EXPECT_THAT(verify(parse(text)), Contains(HasSubstr("writes input 'z' of type f64[4]")));
}

TEST(Verifier, TwoSymbolsOfOneName) {
  Graph g;
  g.context().symbol("s0", 1);
  g.context().symbol("s0", 2);
  EXPECT_THAT(verify(g), Contains(HasSubstr("two symbols are called 's0'")));
}

TEST(Verifier, RunTimeSizesStay) {
  const char* text =
      "symbol u0 = 4 min 0\n"
      "graph(%0 x: f32[4], %1 n: i64 scalar) {\n"
      "  %2: f32[u0] = set_dim(%0, %1) {dim = 0}\n  return %2 y\n}";
  EXPECT_THAT(verify(parse(text)), IsEmpty());
}

}  // namespace
}  // namespace primset::prims
