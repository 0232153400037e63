// The generated C++ operators against libprimset.so, as a program that links it sees them.
#include <gtest/gtest.h>
#include <primset/ops.h>
#include <primset/primset.h>

namespace primset {
namespace {

using Floats = std::vector<float>;

Tensor floats(Floats values, IntList sizes) {
  return Tensor::of<float>(std::span<const float>(values), sizes);
}
Floats host_values(const Tensor& t) {
  return t.to_vector<float>();
}

TEST(Operators, FunctionalInPlaceAndOut) {
  const Tensor a = floats({1, 2}, {2}), b = floats({10, 20}, {2});
  EXPECT_EQ(host_values(add(a, b)), (Floats{11, 22}));
  EXPECT_EQ(host_values(add(a, b, 2)), (Floats{21, 42}));
  EXPECT_EQ(host_values(add(a, 0.5)), (Floats{1.5, 2.5}));
  const Tensor out = Tensor::empty({2}, DType::f32);
  EXPECT_TRUE(add_out(out, a, b).is_same(out));
  EXPECT_EQ(host_values(out), (Floats{11, 22}));
  EXPECT_TRUE(add_(out, a).is_same(out));
  EXPECT_EQ(host_values(out), (Floats{12, 24}));
}

TEST(Operators, WritesThroughAView) {
  const Tensor a = floats({1, 2, 3}, {3});
  add_(slice(a, 0, 1), 1);
  EXPECT_EQ(host_values(a), (Floats{1, 3, 4}));
}

TEST(Operators, ListsAndDefaults) {
  const Tensor a = floats({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(host_values(sum(a, {0})), (Floats{5, 7, 9}));
  EXPECT_EQ(host_values(sum(a, std::vector<int64_t>{1}, true)), (Floats{6, 15}));
  EXPECT_EQ(sum(a).item().to_double(), 21);
  EXPECT_EQ(sum(a, std::nullopt, false, DType::f64).dtype(), DType::f64);
  EXPECT_EQ(cat({a, a}).size(0), 4);
  EXPECT_EQ(permute(a, {1, 0}).size(0), 3);
  EXPECT_EQ(host_values(clamp(a, 2, 4)), (Floats{2, 2, 3, 4, 4, 4}));
  EXPECT_EQ(host_values(clamp(a, std::nullopt, 2)), (Floats{1, 2, 2, 2, 2, 2}));
  EXPECT_EQ(zeros({2, 2}, DType::i32).dtype(), DType::i32);
  EXPECT_EQ(host_values(gelu(floats({0}, {1}), "tanh")), (Floats{0}));
}

TEST(Operators, SeveralResults) {
  const Tensor a = floats({3, 1, 2}, {3});
  const auto [sorted, order] = sort(a);
  EXPECT_EQ(host_values(sorted), (Floats{1, 2, 3}));
  EXPECT_EQ(order.to_vector<int64_t>(), (std::vector<int64_t>{1, 2, 0}));
  const std::vector<Tensor> parts = split(a, 2);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(host_values(parts[1]), (Floats{2}));
  Tensor best = Tensor::empty({0}, DType::f32), where = Tensor::empty({0}, DType::i64);
  topk_out(best, where, a, 2);
  EXPECT_EQ(host_values(best), (Floats{3, 2}));
}

TEST(Operators, ListsThatAreWritten) {
  const std::vector<Tensor> list = {floats({1}, {1}), floats({2}, {1})};
  _foreach_add_(list, 1);
  EXPECT_EQ(host_values(list[1]), (Floats{3}));
}

TEST(Operators, ErrorsAreThrown) {
  try {
    add(floats({1, 2}, {2}), floats({1, 2, 3}, {3}));
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::runtime);
  }
}

TEST(Operators, InsideAGraph) {
  const Tensor a = floats({-1, 2}, {2});
  const Graph graph = Graph::capture(
      {a}, [](std::span<const Tensor> in) { return std::vector<Tensor>{relu(add(in[0], 1))}; });
  EXPECT_EQ(host_values(graph.run({a})[0]), (Floats{0, 3}));
}

}  // namespace
}  // namespace primset
