// What it takes to capture a long graph of small operators, and to run it once.
//   primset_graph_capture OPERATORS [DEVICE]
// Prints JSON: seconds, and microseconds an operator. On the meta device nothing is scheduled or
// compiled, so that the capture itself shows.
#include <fmt/format.h>
#include <primset/primset.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using primset::Tensor;
using primset::Value;

Tensor call(std::string_view name, std::initializer_list<Value> args) {
  return primset::invoke(name, args)[0].tensor();
}

// Operators that take turns, views and writes in place among them.
Tensor chain(Tensor x, const Tensor& y, int operators) {
  for (int i = 0; i < operators; ++i) {
    switch (i % 5) {
      case 0:
        x = call("add.Tensor", {x, y});
        break;
      case 1:
        x = call("t", {x});
        break;
      case 2:
        x = call("mul.Tensor", {x, 0.5});
        break;
      case 3:
        call("relu_", {x});
        break;
      default:
        x = call("sum.dim_IntList", {x, std::vector<int64_t>{0}, true});
    }
  }
  return x;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  const int operators = argc > 1 ? std::atoi(argv[1]) : 0;
  const std::string device = argc > 2 ? argv[2] : "meta";
  if (operators < 1) {
    std::fprintf(stderr, "usage: primset_graph_capture OPERATORS [DEVICE]\n");
    return 2;
  }
  try {
    const Tensor x = Tensor::empty({4, 4}, primset::DType::f32, device);
    const Tensor y = Tensor::empty({4, 4}, primset::DType::f32, device);
    auto start = Clock::now();
    const auto graph = primset::Graph::capture({x, y}, [&](std::span<const Tensor> in) {
      return std::vector<Tensor>{chain(in[0], in[1], operators)};
    });
    const double captured = seconds_since(start);
    start = Clock::now();
    graph.run({x, y});
    primset::synchronize();
    fmt::print(
        "{{\"operators\": {}, \"capture_s\": {:.3f}, \"capture_us_each\": {:.2f}, "
        "\"run_us_each\": {:.3f}}}\n",
        operators, captured, captured / operators * 1e6, seconds_since(start) / operators * 1e6);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "primset_graph_capture: %s\n", e.what());
    return 1;
  }
}
