#include "prims/graph/serialize.h"

#include <gtest/gtest.h>

#include <random>

#include "prims/graph/builder.h"
#include "prims/graph/serialized.h"
#include "prims/graph/text.h"
#include "primset/error.h"

namespace primset::prims {
namespace {

using Values = Builder::Values;

Graph sample() {
  Graph g;
  Builder b(g);
  SymInt s0 = g.context().symbol("s0", 6, 2), s1 = g.context().symbol("s1", 3, 1);
  ValueId x = b.tensor_input("x", {DType::f32, {s0, s1}});
  ValueId alpha = b.scalar_input("alpha", DType::f32);
  EXPECT_TRUE(s1 < s0);
  ValueId scaled = b.binary(Prim::mul, x, b.broadcast_in_dim(alpha, {s0, s1}, {}));
  std::vector<Region> body;
  body.push_back(
      b.region({{DType::i64, {}}, {DType::f32, {s0, s1}}}, [&](std::span<const ValueId> p) {
        std::vector<Region> inner;
        inner.push_back(b.region({{DType::f32, {}}}, [&](std::span<const ValueId> q) {
          return Values{b.binary(Prim::add, q[0], b.constant(Scalar(0.1), DType::f32))};
        }));
        return Values{b.add(Prim::map, {p[1]}, {}, std::move(inner))[0], p[0]};
      }));
  Values looped = b.add(Prim::for_loop, {scaled},
                        {{"count", floor_div(s0, s1)}, {"stacked", int64_t{1}}}, std::move(body));
  ValueId n = b.constant(min(s0, s1 * s1) - ceil_log2(s0), DType::i64);
  b.check(b.binary(Prim::lt, n, n), n, "value", "a message");
  b.output("y", looped[0], 0u);
  b.output("steps", looped[1]);
  b.output("z", b.constant(Scalar(std::complex<double>(1, -2)), DType::c64, {s0}));
  b.output("part", b.slice(x, {0, 1}, {s0, s1}, {2, 1}));
  return g;
}

TEST(Serialize, RoundTrips) {
  Graph g = sample();
  std::vector<std::byte> bytes = serialize(g);
  Graph back = deserialize(bytes);
  EXPECT_EQ(print(back), print(g));
  EXPECT_EQ(serialize(back), bytes);
}

TEST(Serialize, AnEmptyGraph) {
  Graph g;
  EXPECT_EQ(print(deserialize(serialize(g))), print(g));
}

TEST(Serialize, AbsentOperands) {
  Graph g;
  Builder b(g);
  ValueId x = b.tensor_input("x", {DType::f32, {2, 3}});
  Values r = b.add(Prim::layer_norm, {x, kNoValue, kNoValue},
                   {{"dims", int64_t{1}}, {"eps", Scalar(1e-5)}});
  b.output("y", r[0]);
  EXPECT_EQ(print(deserialize(serialize(g))), print(g));
}

TEST(Serialize, TheCReaderEvaluatesSizes) {
  Graph g = sample();
  std::vector<std::byte> bytes = serialize(g);
  primset_graph in;
  ASSERT_EQ(primset_graph_open(&in, bytes.data(), bytes.size()), nullptr);
  std::vector<int64_t> symbols = {10, 4}, atoms(in.count[PRIMSET_GRAPH_ATOMS]);
  primset_graph_evaluate_atoms(&in, symbols.data(), atoms.data());
  bool found = false;
  for (uint32_t i = 0; i < in.count[PRIMSET_GRAPH_ATTRS]; ++i) {
    primset_graph_attr a = primset_graph_get_attr(&in, i);
    if (std::string(primset_graph_text(&in, a.name), a.name.count) != "count") continue;
    EXPECT_EQ(primset_graph_evaluate(&in, static_cast<uint32_t>(a.integer), atoms.data()), 2);
    found = true;
  }
  EXPECT_TRUE(found);
}

void expect_corrupt(const std::vector<std::byte>& bytes) {
  try {
    deserialize(bytes);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::corrupt) << e.what();
  }
}

TEST(Serialize, EveryCutIsRejected) {
  std::vector<std::byte> bytes = serialize(sample());
  for (size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_THROW(deserialize(std::span(bytes).first(n)), Error) << n;
  }
}

// Damage is either noticed or harmless; what is read verifies.
TEST(Serialize, DamageNeverCrashes) {
  const std::vector<std::byte> bytes = serialize(sample());
  std::mt19937 random(11);
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::byte> damaged = bytes;
    for (int k = 0; k <= round % 3; ++k) {
      size_t at = random() % damaged.size();
      damaged[at] =
          round % 2 ? static_cast<std::byte>(random()) : static_cast<std::byte>(random() % 8);
    }
    expect_corrupt(damaged);
  }
}

}  // namespace
}  // namespace primset::prims
