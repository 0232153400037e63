// Which runs a device records and plays again, and that they do what they did (a device that
// records: testdata/test_recorder_plugin.c).
#include <gtest/gtest.h>
#include <primset/ops/creation.h>
#include <primset/ops/indexing.h>
#include <primset/ops/pointwise_binary.h>
#include <primset/ops/pointwise_unary.h>
#include <primset/ops/random.h>
#include <primset/ops/view.h>

#include <cstdlib>
#include <functional>
#include <numeric>
#include <vector>

#include "primset/error.h"
#include "primset/graph.h"
#include "primset/options.h"
#include "primset/statistics.h"
#include "primset/tensor.h"

namespace primset {
namespace {

using Floats = std::vector<float>;
using Tensors = std::vector<Tensor>;
using Inputs = std::span<const Tensor>;

const Device kDevice("recorder:0");
constexpr size_t kCount = 100;
// After a run or two the allocator gives each run the same memory; of such runs the first launches
// and the second records.
constexpr int kRuns = 10, kReplays = 5;

class RecordingsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("PRIMSET_PLUGIN_PATH", PRIMSET_TEST_PLUGIN_DIR, 1);
    setenv("PRIMSET_VALIDATE", "1", 1);
  }
  void SetUp() override {
    Options options = before_;
    options.fuse = false;
    set_options(options);
    empty_cache(kDevice);
  }
  void TearDown() override { set_options(before_); }

  static Tensor tensor(float first) {
    Floats values(kCount);
    std::iota(values.begin(), values.end(), first);
    return Tensor::from_host(values.data(), {static_cast<int64_t>(kCount)}, DType::f32, kDevice);
  }
  // Ten launches where nothing is fused.
  static Tensor many_steps(Tensor x) {
    for (int i = 0; i < 5; ++i) x = sqrt(add(mul(x, x), 1));
    return x;
  }
  static uint64_t replays_of(const std::function<void()>& f) {
    const uint64_t before = statistics().replays;
    f();
    return statistics().replays - before;
  }

  const Options before_ = options();
};

TEST_F(RecordingsTest, ARunThatRepeatsIsPlayed) {
  const Tensor x = tensor(1);
  const Floats expected = many_steps(x).to_vector<float>();
  const Graph graph = Graph::capture({x}, [](Inputs in) { return Tensors{many_steps(in[0])}; });
  EXPECT_GE(replays_of([&] {
              for (int i = 0; i < kRuns; ++i)
                EXPECT_EQ(graph.run({x})[0].to_vector<float>(), expected) << i;
            }),
            kReplays);
}

TEST_F(RecordingsTest, WhatMemoryHoldsIsReadAnew) {
  const Tensor x = tensor(1);
  const Graph graph = Graph::capture({x}, [](Inputs in) { return Tensors{many_steps(in[0])}; });
  std::vector<Floats> expected;
  for (int i = 0; i < kRuns; ++i)
    expected.push_back(many_steps(full_like(x, i)).to_vector<float>());
  EXPECT_GE(replays_of([&] {
              for (int i = 0; i < kRuns; ++i) {
                fill_(x, i);
                EXPECT_EQ(graph.run({x})[0].to_vector<float>(), expected[static_cast<size_t>(i)]);
              }
            }),
            kReplays);
}

// Results that are kept are not written again.
TEST_F(RecordingsTest, ResultsThatLiveKeepTheirValues) {
  const Tensor x = tensor(1);
  const Graph graph = Graph::capture({x}, [](Inputs in) { return Tensors{many_steps(in[0])}; });
  Tensors kept;
  std::vector<Floats> expected;
  for (int i = 0; i < kRuns; ++i) {
    fill_(x, i);
    expected.push_back(many_steps(x).to_vector<float>());
    kept.push_back(graph.run({x})[0]);
  }
  for (size_t i = 0; i < kept.size(); ++i) EXPECT_EQ(kept[i].to_vector<float>(), expected[i]) << i;
}

TEST_F(RecordingsTest, OtherNumbersAreOtherRuns) {
  const Graph graph = Graph::capture(
      {tensor(1)}, [](Inputs in) { return Tensors{many_steps(slice(in[0], 0, 1))}; });
  for (int round = 0; round < 3; ++round) {
    for (int64_t size : {50, 60, 70}) {
      const Tensor x = slice(tensor(3), 0, 0, size);
      EXPECT_EQ(graph.run({x})[0].to_vector<float>(),
                many_steps(slice(x, 0, 1)).to_vector<float>());
    }
  }
}

// Runs that take turns are all recorded: none makes another one forgotten.
TEST_F(RecordingsTest, RunsThatTakeTurnsArePlayed) {
  constexpr int kTurns = 16;
  constexpr int64_t kSizes = 60;
  const Graph graph = Graph::capture(
      {tensor(1)}, [](Inputs in) { return Tensors{many_steps(slice(in[0], 0, 1))}; });
  const Tensor x = tensor(3);
  std::vector<Tensor> inputs;
  for (int64_t n = 0; n < kSizes; ++n) inputs.push_back(slice(x, 0, 0, 20 + n));
  EXPECT_GE(replays_of([&] {
              for (int turn = 0; turn < kTurns; ++turn) {
                for (const Tensor& input : inputs) graph.run({input})[0].to_vector<float>();
              }
            }),
            (kTurns - 4) * kSizes);
}

TEST_F(RecordingsTest, RandomRunsAreNeverPlayed) {
  const Tensor x = tensor(1);
  const Graph graph = Graph::capture(
      {x}, [](Inputs in) { return Tensors{many_steps(add(in[0], rand_like(in[0])))}; });
  std::vector<Floats> seen;
  EXPECT_EQ(replays_of([&] {
              for (int i = 0; i < kRuns; ++i) seen.push_back(graph.run({x})[0].to_vector<float>());
            }),
            0u);
  for (size_t i = 1; i < seen.size(); ++i) EXPECT_NE(seen[i], seen[0]);
}

// The device says so of a native primitive of its own; it is no failure, and other runs are
// recorded.
TEST_F(RecordingsTest, WhatCannotBeRecordedIsNeverGivenToARecording) {
  const Tensor x = tensor(1);
  const auto with_native = [](Tensor t) { return many_steps(neg(many_steps(std::move(t)))); };
  const Floats expected = with_native(x).to_vector<float>();
  const Graph graph = Graph::capture({x}, [&](Inputs in) { return Tensors{with_native(in[0])}; });
  const uint64_t natives = statistics().native_calls;
  EXPECT_EQ(replays_of([&] {
              for (int i = 0; i < kRuns; ++i)
                EXPECT_EQ(graph.run({x})[0].to_vector<float>(), expected);
            }),
            0u);
  EXPECT_EQ(statistics().native_calls - natives, uint64_t{kRuns});
  const Graph other = Graph::capture({x}, [](Inputs in) { return Tensors{many_steps(in[0])}; });
  EXPECT_GE(replays_of([&] {
              for (int i = 0; i < kRuns; ++i) other.run({x})[0].to_vector<float>();
            }),
            kReplays);
}

TEST_F(RecordingsTest, FailuresAreFoundInEachRun) {
  const Tensor x = tensor(1);
  const Tensor index = Tensor::of<int64_t>({5}, {1}, kDevice);
  const Graph graph = Graph::capture(
      {x, index}, [](Inputs in) { return Tensors{many_steps(index_select(in[0], 0, in[1]))}; });
  EXPECT_GE(replays_of([&] {
              for (int i = 0; i < kRuns; ++i) graph.run({x, index})[0].to_vector<float>();
            }),
            kReplays);
  fill_(index, 1000);
  EXPECT_THROW(graph.run({x, index})[0].to_vector<float>(), Error);
  fill_(index, 7);
  EXPECT_EQ(graph.run({x, index})[0].to_vector<float>(),
            many_steps(slice(x, 0, 7, 8)).to_vector<float>());
}

// Memory that goes back to the plugin takes the recordings with it: the validation layer would find
// one that uses it still.
TEST_F(RecordingsTest, MemoryMayBeGivenBack) {
  const Graph graph =
      Graph::capture({tensor(1)}, [](Inputs in) { return Tensors{many_steps(in[0])}; });
  for (int round = 0; round < 3; ++round) {
    const Tensor x = tensor(2);
    const Floats expected = many_steps(x).to_vector<float>();
    for (int i = 0; i < kRuns; ++i) EXPECT_EQ(graph.run({x})[0].to_vector<float>(), expected);
    empty_cache(kDevice);
  }
}

// More than can be recorded here (256 commands): the run is launched as if nothing had been tried.
TEST_F(RecordingsTest, ARunThatCannotBeRecordedIsLaunched) {
  const auto very_many = [](Tensor x) {
    for (int i = 0; i < 300; ++i) x = add(x, 1);
    return x;
  };
  const Tensor x = tensor(1);
  const Floats expected = very_many(x).to_vector<float>();
  const Graph graph = Graph::capture({x}, [&](Inputs in) { return Tensors{very_many(in[0])}; });
  set_log([](LogLevel, std::string_view) {});
  EXPECT_EQ(replays_of([&] {
              for (int i = 0; i < kRuns; ++i)
                EXPECT_EQ(graph.run({x})[0].to_vector<float>(), expected);
            }),
            0u);
  set_log({});
}

}  // namespace
}  // namespace primset
