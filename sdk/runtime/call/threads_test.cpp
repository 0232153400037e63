// Eight threads on the current device: operators, graphs and streams at once, under small limits of
// what is remembered, while devices are listed. What one thread makes another one lets go. Run
// under ThreadSanitizer, too.
#include <gtest/gtest.h>

#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "primset/device.h"
#include "primset/graph.h"
#include "primset/invoke.h"
#include "primset/options.h"
#include "primset/stream.h"

namespace primset {
namespace {

constexpr int kThreads = 8;
constexpr int kRounds = 40;

// What a thread has made, with the stream that it was made on.
struct Made {
  std::optional<Stream> stream;
  std::optional<Graph> graph;
  std::vector<Tensor> tensors;
};

// A place where threads leave what they made, and take what others did.
class Exchange {
 public:
  Made swap(Made mine) {
    const std::lock_guard lock(mutex_);
    std::swap(mine, held_);
    return mine;
  }

 private:
  std::mutex mutex_;
  Made held_;
};

class Threads : public ::testing::Test {
 protected:
  void SetUp() override {
    Options o = before_;
    o.max_plans = 12;
    o.max_kernels = 12;
    set_options(o);
  }
  void TearDown() override { set_options(before_); }

  const Options before_ = options();
};

Tensor call(const char* name, std::initializer_list<Value> arguments) {
  return invoke(name, arguments)[0].tensor();
}

Tensor rows() {
  std::vector<float> values(64 * 48);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7);
  return Tensor::of<float>(std::span<const float>(values), {64, 48});
}

// Integers this small have the same bits in every order of additions.
std::vector<float> doubled_sums(float constant) {
  std::vector<float> out;
  for (size_t row = 0; row < 64; ++row) {
    float sum = 0;
    for (size_t i = 0; i < 48; ++i) sum += static_cast<float>((48 * row + i) % 7) + constant;
    out.push_back(2 * sum);
  }
  return out;
}

Tensor doubled_sums(const Tensor& x, int constant) {
  const Tensor sums =
      call("sum.dim_IntList", {call("add.Tensor", {x, constant}), std::vector<int64_t>{1}});
  return call("mul.Tensor", {sums, 2});
}

// A round of one thread: a stream of its own, an operator's result and a graph's.
Made make(const Tensor& x, int constant) {
  Made made;
  made.stream.emplace(x.device());
  const StreamGuard on(*made.stream);
  made.tensors.push_back(doubled_sums(x, constant));
  made.graph = Graph::capture({x}, [constant](std::span<const Tensor> in) {
    return std::vector<Tensor>{doubled_sums(in[0], constant)};
  });
  made.tensors.push_back(made.graph->run({x})[0]);
  return made;
}

void work(const Tensor& x, int thread, Exchange& exchange) {
  for (int round = 0; round < kRounds; ++round) {
    const int constant = (thread + 3 * round) % 16;
    Made made = make(x, constant);
    const std::vector<float> expected = doubled_sums(static_cast<float>(constant));
    if (round % 2 == 0)
      for (const Tensor& t : made.tensors) EXPECT_EQ(t.to_vector<float>(), expected);
    if (round % 16 == thread) {
      EXPECT_FALSE(devices().empty());
    }
    const Made others = exchange.swap(std::move(made));  // ends here, with work on its way or not
  }
}

TEST_F(Threads, ComputeTheSameAndLetGoOfEachOthers) {
  const Tensor x = rows();
  synchronize();
  Exchange exchange;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back([&, t] { work(x, t, exchange); });
  for (std::thread& t : threads) t.join();
}

}  // namespace
}  // namespace primset
