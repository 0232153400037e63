#include "prims/graph/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "prims/graph/builder.h"
#include "prims/graph/verifier.h"
#include "primset/error.h"

namespace primset::prims {
namespace {

using Values = Builder::Values;

void expect_round_trip(const Graph& g) {
  std::string text = print(g);
  Graph back = parse(text);
  EXPECT_EQ(print(back), text);
  EXPECT_EQ(back.inputs.size(), g.inputs.size());
  EXPECT_EQ(back.context().symbol_count(), g.context().symbol_count());
  EXPECT_EQ(back.context().guards().size(), g.context().guards().size());
  EXPECT_THAT(verify(back), testing::IsEmpty()) << text;
}

TEST(Text, Prints) {
  Graph g;
  Builder b(g);
  SymInt s0 = g.context().symbol("s0", 5, 2), s1 = g.context().symbol("s1", 7);
  ValueId x = b.tensor_input("self", {DType::f32, {s0, s1}});
  ValueId alpha = b.scalar_input("alpha", DType::f32);
  ValueId y = b.binary(Prim::mul, x, b.broadcast_in_dim(alpha, {s0, s1}, {}));
  b.output("result", y, 0u);
  EXPECT_EQ(print(g),
            "symbol s0 = 5 min 2\n"
            "symbol s1 = 7\n"
            "graph(%0 self: f32[s0, s1], %1 alpha: f32 scalar) {\n"
            "  %2: f32[s0, s1] = broadcast_in_dim(%1) {shape = [s0, s1], dims = ()}\n"
            "  %3: f32[s0, s1] = mul(%0, %2)\n"
            "  return %3 result writes 0\n"
            "}\n");
  expect_round_trip(g);
}

TEST(Text, EveryKindOfAttribute) {
  Graph g;
  Builder b(g);
  SymInt s0 = g.context().symbol("s0", 6, 0), s1 = g.context().symbol("s1", 3, 1);
  ValueId x = b.tensor_input("odd name", {DType::f32, {s0}});
  for (double v : {0.1, -0.0, 1e300, 3.0, HUGE_VAL}) {
    b.output("c", b.constant(Scalar(v), DType::f64, {4}));
  }
  b.output("z", b.constant(Scalar(std::complex<double>(1, -2.5)), DType::c64));
  b.output("t", b.constant(Scalar(true), DType::boolean));
  b.output("n", b.constant(s0 * s1 - 4, DType::i64));
  b.output("i", b.constant(Scalar(INT64_MIN), DType::i64));
  ValueId count = b.constant(floor_div(s0, s1), DType::i64);
  b.output("m", b.add(Prim::add,
                      {count, b.constant(min(s0, s1) + max(s0, 4) * mod(s1, s0 + 1) - ceil_log2(s1),
                                         DType::i64)})[0]);
  b.check(b.binary(Prim::eq, count, count), count, "index", "a \"quoted\" text\n\\");
  ValueId index = b.iota({s1}, 0, DType::i64);
  b.output("g", b.gather(x, {index}, {0}, false, "index"));
  b.output("p", b.slice(x, {0}, {s0 * 2 - s0}, {1}));
  EXPECT_TRUE(s0 < s1 * 7);
  expect_round_trip(g);
}

TEST(Text, Regions) {
  Graph g;
  Builder b(g);
  ValueId x = b.tensor_input("x", {DType::f32, {4}});
  std::vector<Region> body;
  body.push_back(b.region({{DType::i64, {}}, {DType::f32, {4}}}, [&](std::span<const ValueId> p) {
    std::vector<Region> inner;
    inner.push_back(b.region({{DType::f32, {}}}, [&](std::span<const ValueId> q) {
      return Values{b.unary(Prim::neg, q[0])};
    }));
    ValueId negated = b.add(Prim::map, {p[1]}, {}, std::move(inner))[0];
    return Values{b.binary(Prim::add, negated, x), p[0]};
  }));
  Values results =
      b.add(Prim::for_loop, {x}, {{"count", SymInt(3)}, {"stacked", int64_t{1}}}, std::move(body));
  b.output("y", results[0]);
  b.output("steps", results[1]);
  expect_round_trip(g);
  EXPECT_THAT(print(g), testing::HasSubstr("for_loop(%0) {count = <3>, stacked = 1} region("));
}

void expect_parse_error(std::string_view text, const std::string& message) {
  try {
    parse(text);
    ADD_FAILURE() << "parsed: " << text;
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::value);
    EXPECT_THAT(e.what(), testing::HasSubstr(message));
  }
}

TEST(Text, Errors) {
  expect_parse_error("", "1:1: found the end; expected 'graph'");
  expect_parse_error("graph() {\n  return %0 y\n}", "expected a defined value");
  expect_parse_error("graph() {\n  %0: f32[] = nope()\n  return\n}", "2:");
  expect_parse_error("graph() { %0: f32[s9] = iota()", "declared symbol");
  expect_parse_error("symbol s0 = 99999999999999999999", "64 bits");
  expect_parse_error("graph() { return } x", "the end");
  std::string deep = "symbol s0 = 1\nguard ";
  for (int i = 0; i < 1000; ++i) deep += "min(";
  expect_parse_error(deep, "fewer nested");
}

}  // namespace
}  // namespace primset::prims
