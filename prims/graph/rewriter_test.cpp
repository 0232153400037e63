#include "prims/graph/rewriter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "prims/graph/text.h"
#include "prims/graph/verifier.h"
#include "primset/error.h"

namespace primset::prims {
namespace {

using Values = Rewriter::Values;

Graph rewritten(const Graph& from, const Rewriter::Hook& hook = {}) {
  Graph to(from.shared_context());
  Builder b(to);
  Rewriter(from, b, hook).graph();
  EXPECT_THAT(verify(to), testing::IsEmpty()) << print(to);
  return to;
}

const char* const kRegions =
    "symbol s0 = 5 min 2\n"
    "graph(%0 x: f32[s0], %1 p: bool[], %2 alpha: f32 scalar) {\n"
    "  %3: f32[s0] = broadcast_in_dim(%2) {shape = [s0], dims = ()}\n"
    "  %7: f32[s0] = cond(%1, %0) region(%4: f32[s0]) {\n"
    "    %5: f32[s0] = mul(%4, %3)\n"
    "    return %5\n"
    "  } region(%6: f32[s0]) {\n"
    "    return %6\n"
    "  }\n"
    "  return %7 y writes 0\n"
    "}\n";

TEST(Rewriter, CopiesRegionsAndWhatTheyCapture) {
  const Graph g = parse(kRegions);
  EXPECT_EQ(print(rewritten(g)), print(g));
}

TEST(Rewriter, AHookReplacesNodesInRegionsToo) {
  const Graph g = parse(kRegions);
  const Graph to = rewritten(g, [](Rewriter& r, NodeId n, const Values& in) {
    if (r.from().node(n).prim != Prim::mul) return std::optional<Values>();
    return std::optional(Values{r.builder().binary(Prim::sub, in[1], in[0])});
  });
  const std::string text = print(to);
  EXPECT_EQ(text.find("mul("), std::string::npos) << text;
  EXPECT_NE(text.find("sub("), std::string::npos) << text;
}

// The other branch of a conditional whose outcome is known can be put in its place.
TEST(Rewriter, ARegionIsInlined) {
  const Graph g = parse(kRegions);
  const Graph to = rewritten(g, [](Rewriter& r, NodeId n, const Values& in) {
    const Node& node = r.from().node(n);
    if (node.prim != Prim::cond) return std::optional<Values>();
    return std::optional(r.inlined(node.regions[0], std::span(in).subspan(1)));
  });
  const std::string text = print(to);
  EXPECT_EQ(text.find("cond("), std::string::npos) << text;
  EXPECT_NE(text.find("mul(%0, "), std::string::npos) << text;
}

TEST(Rewriter, ABodyIsInlinedBehindWhatIsThere) {
  const Graph g = parse(
      "symbol s0 = 5 min 2\n"
      "graph(%0 x: f32[s0]) {\n  %1: f32[s0] = neg(%0)\n  return %1 y\n}\n");
  Graph to(g.shared_context());
  Builder b(to);
  const ValueId x = b.tensor_input("x", g.type(g.inputs[0].value));
  const ValueId once = Rewriter(g, b).inlined(g.body, std::vector{x})[0];
  const ValueId twice = Rewriter(g, b).inlined(g.body, std::vector{once})[0];
  b.output("y", twice);
  EXPECT_THAT(verify(to), testing::IsEmpty());
  EXPECT_EQ(to.node(to.producer(twice)).operands, (SmallVector<ValueId, 4>{once}));
}

const char* const kCounted =
    "symbol s0 = 5\nsymbol u1 = 3\nsymbol u2 = 3\n"
    "graph(%0 x: f32[s0], %1 n: i64[]) {\n"
    "  %2: f32[u1] = set_dim(%0, %1) {dim = 0}\n"
    "  %3: f32[u1] = neg(%2)\n"
    "  return %3 y\n"
    "}\n";

TEST(Rewriter, SizesOfTheRunKeepTheirSymbols) {
  const Graph g = parse(kCounted);
  const std::string text = print(rewritten(g));
  EXPECT_NE(text.find("%2: f32[u1] = set_dim"), std::string::npos) << text;
  EXPECT_NE(text.find("%3: f32[u1] = neg"), std::string::npos) << text;
}

// Both outputs are told in their own symbol, though one node would do for both.
TEST(Rewriter, EqualNodesWithSizesOfTheirOwnStayTwo) {
  const Graph g = parse(
      "symbol s0 = 5\nsymbol u1 = 3\nsymbol u2 = 3\n"
      "graph(%0 x: f32[s0], %1 n: i64[]) {\n"
      "  %2: f32[u1] = set_dim(%0, %1) {dim = 0}\n"
      "  %3: f32[u2] = set_dim(%0, %1) {dim = 0}\n"
      "  return %2 y, %3 z\n"
      "}\n");
  const Graph to = rewritten(g);
  EXPECT_EQ(to.node_count(), 2u);
  EXPECT_EQ(type_text(to, to.type(to.outputs[0].value)), "f32[u1]");
  EXPECT_EQ(type_text(to, to.type(to.outputs[1].value)), "f32[u2]");
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "none";
}

TEST(Rewriter, RefusesReplacementsOfAnotherKind) {
  const Graph g = parse(kCounted);
  const auto replacing_neg = [&](const std::function<Values(Builder&, const Values&)>& f) {
    return error_of([&] {
      rewritten(g, [&](Rewriter& r, NodeId n, const Values& in) {
        if (r.from().node(n).prim != Prim::neg) return std::optional<Values>();
        return std::optional(f(r.builder(), in));
      });
    });
  };
  EXPECT_THAT(replacing_neg([](Builder&, const Values&) { return Values{}; }),
              testing::HasSubstr("neg is replaced by 0 values; expected 1"));
  EXPECT_THAT(
      replacing_neg(
          [](Builder& b, const Values& in) { return Values{b.convert(in[0], DType::f64)}; }),
      testing::HasSubstr("neg is replaced by a value of f64 and rank 1; expected f32 and rank 1"));
}

TEST(Rewriter, RefusesValuesThatNothingStandsFor) {
  const Graph g = parse(kRegions);
  Graph to(g.shared_context());
  Builder b(to);
  Rewriter r(g, b);
  EXPECT_THAT(error_of([&] { r(3); }), testing::HasSubstr("value %3 is used before"));
  EXPECT_THAT(error_of([&] { r.inlined(g.body, {}); }),
              testing::HasSubstr("a region of 3 parameters is given 0 values"));
  EXPECT_EQ(r(kNoValue), kNoValue);
}

// Nodes are walked, not descended into: a long chain needs no deep stack.
TEST(Rewriter, LongChains) {
  Graph g;
  Builder b(g);
  ValueId v = b.tensor_input("x", {DType::f32, {}});
  for (int i = 0; i < 100000; ++i) v = b.unary(Prim::neg, v);
  b.output("y", v);
  Graph to(g.shared_context());
  Builder copy(to);
  Rewriter(g, copy).graph();
  EXPECT_EQ(to.node_count(), 100000u);
}

}  // namespace
}  // namespace primset::prims
