// Graph capture and run, on the current device.
#include "primset/graph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <thread>

#include "primset/invoke.h"
#include "primset/statistics.h"
#include "sdk/runtime/graph/plain_sgd.h"

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

// Attention returns the number of its queries beside tensors.
TEST(Graph, NumbersThatFollowFromSizesAreKnownWhileItIsCaptured) {
  const auto attention = [](Inputs in) {
    const std::vector<Value> r =
        invoke("_scaled_dot_product_fused_attention_overrideable", {in[0], in[1], in[1]});
    return Tensors{call("add.Tensor", {r[0], r[4]}), r[1].tensor()};
  };
  const Tensor keys = floats({1, 2, 3, 4}, {1, 1, 2, 2});
  const Graph graph = Graph::capture({keys, keys}, attention);
  for (const Tensor& queries : {floats({0, 0}, {1, 1, 1, 2}), floats({0, 0, 0, 0}, {1, 1, 2, 2})}) {
    const auto rows = static_cast<float>(queries.size(2));
    const Tensors results = graph.run({queries, keys});
    const Floats values = results[0].to_vector<float>();
    EXPECT_EQ(Floats(values.begin(), values.begin() + 2), (Floats{2 + rows, 3 + rows}));
    EXPECT_NEAR(results[1].to_vector<float>()[0], std::log(2.0f), 1e-6f);
  }
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

std::string message(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

// Values that no rounding leaves as they are, another sequence for each seed.
Tensor noise(IntList sizes, int seed) {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  Floats values(static_cast<size_t>(n));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(static_cast<float>(i) * 0.37f + static_cast<float>(seed));
  return floats(values, sizes);
}

Tensors softmax_like(Inputs in) {
  Tensor t = call("add.Tensor", {in[0], in[1]});
  t = call("mul.Scalar", {t, 0.7});
  t = call("tanh", {t});
  t = call("sub.Tensor", {t, in[2]});
  t = call("abs", {t});
  t = call("exp", {t});
  t = call("sigmoid", {t});
  t = call("mul.Tensor", {t, in[1]});
  const Tensor total = call("sum.dim_IntList", {t, std::vector<int64_t>{1}, true});
  return {call("div.Tensor", {t, total})};
}

// Broadcast, a transposed input, two dtypes, eight pointwise operators, and a reduction of rows
// whose result is used with the rows again.
TEST(Graph, ARowReductionAndWhatIsAroundItAreOneKernel) {
  auto inputs = [](int64_t rows, int64_t columns) {
    return Tensors{noise({columns, rows}, 1).as_strided({rows, columns}, {1, rows}, 0),
                   call("to.dtype", {noise({columns}, 2), DType::f16}), noise({rows, 1}, 3)};
  };
  const Graph graph = Graph::capture(inputs(3, 5), softmax_like);
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{3, 5}, {37, 100}, {8, 4096}, {2, 3}}) {
    const Tensors in = inputs(rows, columns);
    const Floats eager = softmax_like(in)[0].to_vector<float>();
    Floats fused;
    EXPECT_EQ(launches([&] { fused = graph.run(in)[0].to_vector<float>(); }), 1u);
    ASSERT_EQ(fused.size(), eager.size());
    EXPECT_EQ(std::memcmp(fused.data(), eager.data(), eager.size() * sizeof(float)), 0)
        << rows << " x " << columns;
  }
}

TEST(Graph, DropoutDrawsAnewAtEachRun) {
  const Tensor ones = floats(Floats(256, 1.0f), {256});
  const Graph graph = Graph::capture({ones}, [](Inputs in) {
    const auto once = invoke("native_dropout", {in[0], 0.5, true});
    const auto twice = invoke("native_dropout", {in[0], 0.5, true});
    return Tensors{once[0].tensor(), twice[0].tensor()};
  });
  manual_seed(7);
  const Tensors first = graph.run({ones}), second = graph.run({ones});
  EXPECT_NE(first[0].to_vector<float>(), first[1].to_vector<float>());
  EXPECT_NE(first[0].to_vector<float>(), second[0].to_vector<float>());
  // The same numbers as the calls one by one.
  manual_seed(7);
  for (const Tensor& expected : {first[0], first[1], second[0], second[1]}) {
    const Tensor eager = invoke("native_dropout", {ones, 0.5, true})[0].tensor();
    EXPECT_EQ(expected.to_vector<float>(), eager.to_vector<float>());
  }
}

TEST(Graph, WritesThroughViewsOfViews) {
  auto f = [](Inputs in) {
    const Tensor t = call("transpose.int", {in[0], 0, 1});
    const Tensor row = call("select.int", {t, 0, 1});  // column 1
    invoke("mul_.Scalar", {call("slice.Tensor", {row, 0, 1, INT64_MAX}), 10});
    invoke("add_.Tensor", {call("slice.Tensor", {in[0], 0, 1, INT64_MAX}), 1});
    return Tensors{};
  };
  const Tensor captured = floats({1, 2, 3, 4, 5, 6}, {3, 2});
  const Tensor eager = floats({1, 2, 3, 4, 5, 6}, {3, 2});
  const Graph graph = Graph::capture({captured}, f);
  graph.run({captured});
  f(Tensors{eager});
  EXPECT_EQ(captured.to_vector<float>(), eager.to_vector<float>());
  EXPECT_EQ(captured.to_vector<float>(), (Floats{1, 2, 4, 41, 6, 61}));
}

TEST(Graph, InPlaceOnAnInputWritesItOnce) {
  const Tensor a = noise({1000}, 1);
  const Graph graph = Graph::capture({a}, [](Inputs in) {
    invoke("mul_.Scalar", {in[0], 2});
    invoke("add_.Tensor", {in[0], 1});
    return Tensors{in[0]};
  });
  Floats expected = a.to_vector<float>();
  for (float& v : expected) v = v * 2 + 1;
  const void* memory = a.storage().impl();
  Tensors out;
  const Statistics before = statistics();
  out = graph.run({a});
  EXPECT_EQ(statistics().launches - before.launches, 1u);
  EXPECT_EQ(statistics().copies - before.copies, 0u);
  EXPECT_TRUE(out[0].is_same(a));
  EXPECT_EQ(out[0].storage().impl(), memory);
  EXPECT_EQ(a.to_vector<float>(), expected);
}

TEST(Graph, ViewsOfInputsAreViews) {
  const Tensor a = floats({1, 2, 3, 4, 5, 6}, {2, 3});
  const Graph graph = Graph::capture({a}, [](Inputs in) {
    invoke("add_.Tensor", {in[0], 1});
    const Tensor t = call("transpose.int", {in[0], 0, 1});
    return Tensors{call("slice.Tensor", {t, 0, 1, 3}), call("neg", {t})};
  });
  const Tensors out = graph.run({a});
  EXPECT_TRUE(out[0].is_alias_of(a));
  EXPECT_EQ(out[0].storage_offset(), 1);
  EXPECT_EQ(out[0].strides()[0], 1);
  EXPECT_EQ(out[0].strides()[1], 3);
  EXPECT_EQ(out[0].to_vector<float>(), (Floats{3, 6, 4, 7}));
  EXPECT_EQ(out[1].to_vector<float>(), (Floats{-2, -5, -3, -6, -4, -7}));
}

// What a view shows is kept until its base is written.
TEST(Graph, ViewsAreReadAgainBehindAWrite) {
  const Tensor a = floats({1, 2, 3, 4}, {2, 2});
  const Graph graph = Graph::capture({a}, [](Inputs in) {
    const Tensor t = call("t", {in[0]});
    const Tensor row = call("select.int", {t, 0, 1});
    const Tensor first = call("neg", {row});
    invoke("mul_.Scalar", {t, 10});
    const Tensor second = call("neg", {row});
    invoke("add_.Tensor", {row, 1});
    return Tensors{first, second, call("neg", {t}), call("neg", {in[0]})};
  });
  const Tensors out = graph.run({a});
  EXPECT_EQ(out[0].to_vector<float>(), (Floats{-2, -4}));
  EXPECT_EQ(out[1].to_vector<float>(), (Floats{-20, -40}));
  EXPECT_EQ(out[2].to_vector<float>(), (Floats{-10, -30, -21, -41}));
  EXPECT_EQ(out[3].to_vector<float>(), (Floats{-10, -21, -30, -41}));
}

// With a list of its own for each view these would take 10^8 of them.
TEST(Graph, AViewOfViewsTakesNoMoreThanAView) {
  const Tensor a = floats({1, 2, 3, 4, 5, 6}, {2, 3});
  const Graph graph = Graph::capture({a}, [](Inputs in) {
    Tensor v = in[0], sum = call("neg", {in[0]});
    for (int i = 0; i < 10000; ++i) {
      v = call("t", {call("slice.Tensor", {call("t", {v}), 1, 0, 2})});
      if (i % 100 == 0) sum = call("add.Tensor", {sum, v});
    }
    return Tensors{v, sum};
  });
  const Tensors out = graph.run({a});
  EXPECT_TRUE(out[0].is_alias_of(a));
  EXPECT_EQ(out[0].to_vector<float>(), (Floats{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(out[1].to_vector<float>(), (Floats{99, 198, 297, 396, 495, 594}));
}

TEST(Graph, MemorySeenThroughAViewIsTheWholeTensors) {
  auto f = [](Inputs in) {
    const Tensor tail = call("slice.Tensor", {in[0], 0, 2, INT64_MAX});
    const Tensor head = call("as_strided", {tail, std::vector<int64_t>{2}, std::vector<int64_t>{2},
                                            in[0].storage_offset()});
    invoke("mul_.Scalar", {head, 10});
    return Tensors{call("neg", {tail})};
  };
  const Tensor memory = floats({0, 1, 2, 3, 4, 5}, {6});
  const Graph graph = Graph::capture({memory.as_strided({4}, {1}, 0)}, f);
  EXPECT_EQ(graph.run({memory.as_strided({4}, {1}, 1)})[0].to_vector<float>(), (Floats{-30, -4}));
  EXPECT_EQ(memory.to_vector<float>(), (Floats{0, 10, 2, 30, 4, 5}));
}

TEST(Graph, NumbersOfTheProgramAreConstants) {
  const Tensor a = floats({1, 2}, {2});
  double factor = 3;
  const Graph graph =
      Graph::capture({a}, [&](Inputs in) { return Tensors{call("mul.Scalar", {in[0], factor})}; });
  factor = 5;
  EXPECT_EQ(graph.run({a})[0].to_vector<float>(), (Floats{3, 6}));
}

TEST(Graph, CpuScalarsAreParameters) {
  const Tensor a = floats({1, 2}, {2});
  const Tensor two = Tensor::of<float>({2}, {}, Device::cpu());
  const Graph graph = Graph::capture(
      {a, two}, [](Inputs in) { return Tensors{call("mul.Tensor", {in[0], in[1]})}; });
  EXPECT_EQ(graph.run({a, two})[0].to_vector<float>(), (Floats{2, 4}));
  const Tensor five = Tensor::of<float>({5}, {}, Device::cpu());
  EXPECT_EQ(graph.run({a, five})[0].to_vector<float>(), (Floats{5, 10}));
}

TEST(Graph, SizesOnePerClassOfBroadcasting) {
  int traces = 0;
  const Graph graph = Graph::capture({noise({4, 5}, 1), noise({5}, 2)}, [&](Inputs in) {
    ++traces;
    return Tensors{call("add.Tensor", {in[0], in[1]})};
  });
  const int first = traces;
  for (int64_t n = 2; n < 30; ++n) graph.run({noise({n, 2 * n}, 1), noise({2 * n}, 2)});
  EXPECT_EQ(traces, first);
  EXPECT_EQ(graph.run({noise({4, 5}, 1), floats({1}, {1})})[0].size(1), 5);
  EXPECT_GT(traces, first);  // a broadcast dim is another key
  EXPECT_NE(message([&] {
              graph.run({noise({4, 5}, 1), noise({3}, 2)});
            }).find("must match the size of tensor b (3) at non-singleton dimension 1"),
            std::string::npos);
}

TEST(Graph, SharedByThreads) {
  const Graph graph = Graph::capture(
      {noise({8}, 1)}, [](Inputs in) { return Tensors{call("exp", {call("neg", {in[0]})})}; });
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int64_t n = 1; n < 20; ++n) {
        const Tensor x = noise({n + t % 2, 3}, t);
        const Floats eager = call("exp", {call("neg", {x})}).to_vector<float>();
        if (graph.run({x})[0].to_vector<float>() != eager) ++wrong;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Graph, SaysWhyItCannotCapture) {
  const Tensor a = floats({1, 2}, {2});
  auto capture = [&](std::function<Tensors(Inputs)> f) {
    return message([&] { Graph::capture({a}, f); });
  };
  EXPECT_NE(capture([](Inputs in) {
              in[0].to_vector<float>();
              return Tensors{};
            }).find("values are not known while a graph is captured"),
            std::string::npos);
  EXPECT_NE(capture([](Inputs in) {
              call("select.int", {in[0], 0, 0}).item();
              return Tensors{};
            }).find("values are not known while a graph is captured"),
            std::string::npos);
  EXPECT_NE(capture([](Inputs in) {
              invoke("resize_", {in[0], std::vector<int64_t>{4}});
              return Tensors{};
            }).find("resize_: cannot be part of a captured graph"),
            std::string::npos);
  EXPECT_NE(capture([](Inputs) { return Tensors{Tensor()}; }).find("returned no tensor"),
            std::string::npos);
  EXPECT_NE(capture([](Inputs in) {
              return Tensors{call("add.Tensor", {in[0], floats({1, 2, 3}, {3})})};
            }).find("must match the size of tensor b"),
            std::string::npos);
}

TEST(Graph, SizesThatOnlyARunKnowsCannotBeLookedAt) {
  const Tensor a = floats({0, 2, 0, 3}, {4});
  EXPECT_NE(message([&] {
              Graph::capture({a}, [](Inputs in) {
                call("nonzero", {in[0]}).size(0);
                return Tensors{};
              });
            }).find("only known when the graph runs"),
            std::string::npos);
  const Graph graph = Graph::capture({a}, [](Inputs in) {
    const Tensor positions = call("nonzero", {in[0]});
    return Tensors{call("mul.Scalar", {positions, 2})};
  });
  EXPECT_EQ(graph.run({a})[0].to_vector<int64_t>(), (std::vector<int64_t>{2, 6}));
  EXPECT_EQ(graph.run({floats({1, 1, 0, 1}, {4})})[0].to_vector<int64_t>(),
            (std::vector<int64_t>{0, 2, 6}));
}

TEST(Graph, ALongChainIsCaptured) {
  const Tensor x = Tensor::empty({4, 4}, DType::f32, "meta");
  const Graph graph = Graph::capture({x}, [](Inputs in) {
    Tensor y = in[0];
    for (int i = 0; i < 10000; ++i) {
      y = call("t", {call("add.Tensor", {y, in[0]})});
      call("relu_", {y});
    }
    return Tensors{y};
  });
  EXPECT_EQ(graph.run({x})[0].numel(), 16);
}

TEST(Graph, AStepIsSkippedWhereARunFindsInfinity) {
  const Tensor scale = floats({2}, {}), tracker = Tensor::of<int32_t>(std::vector<int32_t>{0}, {});
  const Tensor param = floats({1, 2}, {2});
  const Graph graph = Graph::capture({floats({0, 0}, {2}), param, scale, tracker}, [](Inputs in) {
    const Tensor grad = call("clone", {in[0]});
    const Tensor found = call("zeros_like", {in[2]});
    const Tensor inverse = call("reciprocal", {in[2]});
    invoke("_amp_foreach_non_finite_check_and_unscale_", {Tensors{grad}, found, inverse});
    runtime::plain_sgd("_fused_sgd_", {Tensors{in[1]}, Tensors{grad}, Tensors{}}, 0,
                       {{"found_inf", found}});
    return Tensors{call("_amp_update_scale_", {in[2], in[3], found, 2.0, 0.5, 1})};
  });
  graph.run({floats({2, 4}, {2}), param, scale, tracker});
  EXPECT_EQ(param.to_vector<float>(), (Floats{0, 0}));
  EXPECT_EQ(scale.to_vector<float>(), (Floats{4}));
  graph.run({floats({4, INFINITY}, {2}), param, scale, tracker});
  EXPECT_EQ(param.to_vector<float>(), (Floats{0, 0}));
  EXPECT_EQ(scale.to_vector<float>(), (Floats{2}));
}

}  // namespace
}  // namespace primset
