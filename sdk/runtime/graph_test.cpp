// Graph capture and run, on the current device.
#include "primset/graph.h"

#include <gtest/gtest.h>

#include "primset/invoke.h"
#include "primset/statistics.h"

namespace primset {
namespace {

using Floats = std::vector<float>;
using Tensors = std::vector<Tensor>;
using Inputs = std::span<const Tensor>;

Tensor floats(Floats values, IntList sizes) {
  return Tensor::of<float>(std::span<const float>(values), sizes);
}
Tensor call(std::string_view name, std::initializer_list<Value> args) {
  return invoke(name, args)[0].tensor();
}
uint64_t launches(const std::function<void()>& f) {
  const uint64_t before = statistics().launches;
  f();
  return statistics().launches - before;
}

TEST(Graph, FusesAndRunsAgain) {
  const Tensor a = floats({-1, 2}, {2}), b = floats({3, -4}, {2});
  const Graph graph = Graph::capture({a, b}, [](Inputs in) {
    return Tensors{call("relu", {call("add.Tensor", {call("mul.Tensor", {in[0], in[1]}), 1.0})})};
  });
  EXPECT_EQ(graph.run({a, b})[0].to_vector<float>(), (Floats{0, 0}));
  EXPECT_EQ(graph.run({b, b})[0].to_vector<float>(), (Floats{10, 17}));
  EXPECT_EQ(launches([&] { graph.run({a, b}); }), 1u);
}

TEST(Graph, NewSizesNeedNoNewTrace) {
  int traces = 0;
  const Graph graph = Graph::capture({floats({1, 2, 3}, {3})}, [&](Inputs in) {
    ++traces;
    return Tensors{call("add.Tensor", {in[0], in[0]})};
  });
  const int before = traces;
  EXPECT_EQ(graph.run({floats({5, 6, 7, 8, 9}, {5})})[0].to_vector<float>(),
            (Floats{10, 12, 14, 16, 18}));
  EXPECT_EQ(traces, before);
}

TEST(Graph, SizesThatWereLookedAtAreGuarded) {
  const Graph graph = Graph::capture({floats({1, 2, 3}, {3})}, [](Inputs in) {
    return Tensors{call("add.Tensor", {in[0], in[0].size(0)})};
  });
  EXPECT_EQ(graph.run({floats({1, 1}, {2})})[0].to_vector<float>(), (Floats{3, 3}));
  EXPECT_EQ(graph.run({floats({1, 1, 1}, {3})})[0].to_vector<float>(), (Floats{4, 4, 4}));
}

TEST(Graph, WritesThroughViewsReachTheInput) {
  const Tensor a = floats({1, 2, 3, 4}, {4});
  const Graph graph = Graph::capture({a}, [](Inputs in) {
    const Tensor tail = call("slice.Tensor", {in[0], 0, 2, 4});
    invoke("add_.Tensor", {tail, 10});
    return Tensors{call("mul.Scalar", {in[0], 2})};
  });
  EXPECT_EQ(a.to_vector<float>(), (Floats{1, 2, 3, 4}));  // capturing runs nothing
  EXPECT_EQ(graph.run({a})[0].to_vector<float>(), (Floats{2, 4, 26, 28}));
  EXPECT_EQ(a.to_vector<float>(), (Floats{1, 2, 13, 14}));
}

TEST(Graph, WritesInsideStayInside) {
  const Tensor a = floats({1, 2}, {2});
  const Graph graph = Graph::capture({a}, [](Inputs in) {
    const Tensor t = call("add.Tensor", {in[0], 0});
    invoke("mul_.Scalar", {t, 3});
    invoke("add_.Tensor", {t, in[0]});
    return Tensors{t};
  });
  EXPECT_EQ(graph.run({a})[0].to_vector<float>(), (Floats{4, 8}));
  EXPECT_EQ(a.to_vector<float>(), (Floats{1, 2}));
}

TEST(Graph, TensorsFromOutsideAreReadAtEachRun) {
  const Tensor weight = floats({1, 1}, {2});
  const Graph graph = Graph::capture({floats({1, 2}, {2})}, [&](Inputs in) {
    return Tensors{call("mul.Tensor", {in[0], weight})};
  });
  const Tensor x = floats({5, 6}, {2});
  EXPECT_EQ(graph.run({x})[0].to_vector<float>(), (Floats{5, 6}));
  invoke("add_.Tensor", {weight, 1});
  EXPECT_EQ(graph.run({x})[0].to_vector<float>(), (Floats{10, 12}));
}

TEST(Graph, AnInputMayBeAResult) {
  const Tensor a = floats({1, 2}, {2});
  const Graph graph =
      Graph::capture({a, a}, [](Inputs in) { return Tensors{in[0], call("neg", {in[1]})}; });
  const Tensors out = graph.run({a, a});
  EXPECT_TRUE(out[0].is_alias_of(a));
  EXPECT_EQ(out[1].to_vector<float>(), (Floats{-1, -2}));
  EXPECT_EQ(graph.run({a, floats({7, 8}, {2})})[1].to_vector<float>(), (Floats{-7, -8}));
}

TEST(Graph, ValuesAreNotKnownWhileCapturing) {
  const Tensor a = floats({1, 2}, {2});
  EXPECT_THROW(Graph::capture({a},
                              [](Inputs in) {
                                in[0].to_vector<float>();
                                return Tensors{in[0]};
                              }),
               Error);
  // The thread captures nothing afterwards.
  EXPECT_EQ(call("add.Tensor", {a, a}).to_vector<float>(), (Floats{2, 4}));
}

}  // namespace
}  // namespace primset
