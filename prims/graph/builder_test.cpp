#include "prims/graph/builder.h"

#include <gtest/gtest.h>

#include "prims/inference/rules.h"
#include "primset/error.h"

namespace primset::prims {
namespace {

using Values = Builder::Values;

struct BuilderTest : testing::Test {
  Graph g;
  Builder b{g};
  SymInt s0 = g.context().symbol("s0", 5, 2), s1 = g.context().symbol("s1", 7, 2);
  ValueId x = b.tensor_input("x", {DType::f32, {s0, s1}});
  ValueId y = b.tensor_input("y", {DType::f32, {s0, s1}});
};

TEST_F(BuilderTest, SharesEqualNodes) {
  EXPECT_EQ(b.binary(Prim::add, x, y), b.binary(Prim::add, x, y));
  EXPECT_NE(b.binary(Prim::add, x, y), b.binary(Prim::add, y, x));
  EXPECT_EQ(b.constant(Scalar(1), DType::f32), b.constant(Scalar(1.0), DType::f32));
  EXPECT_NE(b.constant(Scalar(0.0), DType::f32), b.constant(Scalar(-0.0), DType::f32));
  EXPECT_EQ(g.node_count(), 5u);
}

TEST_F(BuilderTest, GuardsOnlyWhatIsUnknown) {
  b.binary(Prim::mul, x, y);
  EXPECT_TRUE(g.context().guards().empty());
  SymInt s2 = g.context().symbol("s2", 5, 2);
  b.binary(Prim::mul, x, b.tensor_input("z", {DType::f32, {s2, s1}}));
  EXPECT_EQ(g.context().guards().size(), 1u);
}

TEST_F(BuilderTest, IdentitiesMakeNoNodes) {
  EXPECT_EQ(b.reshape(x, {s0, s1}), x);
  EXPECT_EQ(b.transpose(x, {0, 1}), x);
  EXPECT_EQ(b.convert(x, DType::f32), x);
  EXPECT_EQ(b.broadcast_in_dim(x, {s0, s1}, {0, 1}), x);
  EXPECT_EQ(g.node_count(), 0u);
}

ValueId doubled(Builder& b, ValueId x) {
  Region r = b.region({{DType::f32, {}}}, [&](std::span<const ValueId> p) {
    return Values{b.binary(Prim::add, p[0], p[0])};
  });
  std::vector<Region> regions;
  regions.push_back(std::move(r));
  return b.add(Prim::map, {x}, {}, std::move(regions))[0];
}

TEST_F(BuilderTest, SharesNodesWithEqualRegions) {
  EXPECT_EQ(doubled(b, x), doubled(b, x));
  EXPECT_NE(doubled(b, x), doubled(b, y));
}

TEST_F(BuilderTest, ScalarRegionsCaptureNothing) {
  ValueId outer = b.constant(Scalar(2.0), DType::f32);
  ValueId inner = kNoValue;
  b.region({{DType::f32, {}}}, [&](std::span<const ValueId> p) {
    inner = b.constant(Scalar(2.0), DType::f32);
    return Values{inner};
  });
  EXPECT_NE(inner, outer);
}

TEST_F(BuilderTest, GraphRegionsUseEnclosingValues) {
  ValueId outer = b.binary(Prim::add, x, y);
  ValueId inner = kNoValue;
  b.region({{DType::i64, {}}, {DType::f32, {s0, s1}}}, [&](std::span<const ValueId> p) {
    inner = b.binary(Prim::add, x, y);
    return Values{inner};
  });
  EXPECT_EQ(inner, outer);
}

TEST_F(BuilderTest, AValueOfAClosedRegionIsNotShared) {
  ValueId inner = kNoValue;
  b.region({{DType::f32, {s0, s1}}}, [&](std::span<const ValueId> p) {
    inner = b.binary(Prim::sub, x, y);
    return Values{inner};
  });
  EXPECT_NE(b.binary(Prim::sub, x, y), inner);
}

// Rules by their labels: a broken one names itself.
void expect_rule(const char* label, const std::function<void()>& build) {
  try {
    build();
    ADD_FAILURE() << label << " was not checked";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::internal);
    EXPECT_EQ(std::string(e.what()).rfind(label, 0), 0u) << e.what();
  }
}

TEST_F(BuilderTest, BrokenRulesNameThemselves) {
  ValueId i = b.tensor_input("i", {DType::i64, {3}});
  ValueId j = b.tensor_input("j", {DType::i64, {4}});
  ValueId v = b.tensor_input("v", {DType::f32, {8}});
  expect_rule("add_c1", [&] { b.binary(Prim::add, x, v); });
  expect_rule("add_c2", [&] { b.binary(Prim::add, i, b.convert(i, DType::i32)); });
  expect_rule("sqrt_c3", [&] { b.unary(Prim::sqrt, i); });
  expect_rule("gather_c1", [&] { b.gather(v, {i}, {1}, false, "i"); });
  expect_rule("gather_c2", [&] { b.gather(v, {i, i}, {0}, false, "i"); });
  expect_rule("gather_c3", [&] { b.gather(v, {v}, {0}, false, "i"); });
  expect_rule("gather_c4", [&] { b.gather(x, {i, j}, {0, 1}, false, "i"); });
  expect_rule("reshape_c1", [&] { b.reshape(v, {2, 3}); });
  expect_rule("transpose_c1", [&] { b.transpose(x, {0, 0}); });
  expect_rule("slice_c2", [&] { b.slice(v, {0}, {9}, {1}); });
  expect_rule("slice_c3", [&] { b.slice(v, {0}, {8}, {0}); });
  expect_rule("window_c4", [&] { b.window(v, {0}, {10}, {1}, {1}); });
  expect_rule("concatenate_c4", [&] { b.concatenate({x, v}, 0); });
  expect_rule("broadcast_in_dim_c3", [&] { b.broadcast_in_dim(v, {2, 3}, {1}); });
  expect_rule("dot_general_c5", [&] { b.dot_general(x, x, {0}, {1}, {}, {}, DType::f32); });
  expect_rule("scatter_c6", [&] { b.scatter(Prim::scatter, v, {i}, v, {0}, false, false, "i"); });
}

TEST(Inference, EveryPrimitiveHasARule) {
  for (int i = 0; i < prim_count(); ++i) {
    EXPECT_TRUE(has_rule(static_cast<Prim>(i))) << info(static_cast<Prim>(i)).name;
  }
}

TEST_F(BuilderTest, InfersShapes) {
  auto text = [&](ValueId v) { return g.context().to_string(product(b.shape(v))); };
  ValueId v = b.tensor_input("v", {DType::f32, {8}});
  EXPECT_EQ(b.shape(b.window(v, {0}, {3}, {2}, {1}))[0].constant(), 3);
  EXPECT_EQ(b.shape(b.slice(v, {1}, {8}, {3}))[0].constant(), 3);
  ValueId zero = b.constant(Scalar(0.0), DType::f32);
  EXPECT_EQ(b.shape(b.pad(v, zero, {-2}, {1}, {1}))[0].constant(), 14);
  EXPECT_EQ(text(b.dot_general(x, y, {1}, {1}, {}, {}, DType::f32)), "s0*s0");
  EXPECT_EQ(text(b.reduce(Prim::reduce_sum, x, {0})), "s1");
  EXPECT_EQ(text(b.concatenate({x, y}, 0)), "2*s0*s1");
  Values packed = b.add(Prim::compact, {v, b.binary(Prim::lt, v, v)});
  EXPECT_TRUE(g.context().as_symbol(b.shape(b.set_dim(packed[0], packed[1], 0))[0]).has_value());
}

}  // namespace
}  // namespace primset::prims
