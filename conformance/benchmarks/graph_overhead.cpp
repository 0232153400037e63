// What an operator of a captured graph costs: small dependent operators, each a launch of its own.
//   primset_graph_overhead DEVICE [OPERATORS] [SECONDS]
// Prints JSON: microseconds an operator, called one by one and as a graph, and how many runs of the
// graph the device had recorded.
#include <primset/ops/pointwise_binary.h>
#include <primset/primset.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

using primset::Tensor;

// Microseconds a run, without waiting in between; the end is waited for.
double time_runs(const std::function<void()>& run, double seconds) {
  using Clock = std::chrono::steady_clock;
  run();
  run();
  run();
  primset::synchronize();
  const auto start = Clock::now();
  int64_t runs = 0;
  do {
    for (int i = 0; i < 10; ++i) run();
    runs += 10;
    primset::synchronize();
  } while (std::chrono::duration<double>(Clock::now() - start).count() < seconds);
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count() /
         static_cast<double>(runs);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string device = argc > 1 ? argv[1] : "cpu";
  const int operators = argc > 2 ? std::atoi(argv[2]) : 100;
  const double seconds = argc > 3 ? std::atof(argv[3]) : 1.0;
  if (device.starts_with("-") || operators < 1) {
    std::fprintf(stderr, "usage: primset_graph_overhead DEVICE [OPERATORS] [SECONDS]\n");
    return 2;
  }
  try {
    primset::Options options = primset::options();
    options.fuse = false;
    primset::set_options(options);
    const std::vector<float> values(16, 1.5f);
    const Tensor x = Tensor::from_host(values.data(), {16}, primset::DType::f32, device);
    const auto chain = [&](Tensor y) {
      for (int i = 0; i < operators; ++i) y = primset::add(y, 1);
      return y;
    };
    const auto graph = primset::Graph::capture(
        {x}, [&](std::span<const Tensor> in) { return std::vector<Tensor>{chain(in[0])}; });
    const float expected = 1.5f + static_cast<float>(operators);
    if (graph.run({x})[0].to_vector<float>()[7] != expected) {
      std::fprintf(stderr, "primset_graph_overhead: the graph is wrong\n");
      return 1;
    }
    const double eager = time_runs([&] { chain(x); }, seconds);
    const uint64_t before = primset::statistics().replays;
    const double as_graph = time_runs([&] { graph.run({x}); }, seconds);
    const uint64_t replays = primset::statistics().replays - before;
    std::printf("{\"operators\": %d, \"eager_us\": %.4f, \"graph_us\": %.4f, \"replays\": %llu}\n",
                operators, eager / operators, as_graph / operators,
                static_cast<unsigned long long>(replays));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "primset_graph_overhead: %s\n", e.what());
    return 1;
  }
}
