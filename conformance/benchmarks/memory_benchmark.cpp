// Memory-bound operators on a device, beside a plain copy of the host's memory:
//
//   primset_memory_benchmark [--benchmark_filter=gelu]
//
// PRIMSET_DEVICE says where (default: the CPU), PRIMSET_CPU_THREADS with how many threads. The
// column bytes_per_second counts what a call has to read and write at least. For the comparison
// with PyTorch see compare_with_pytorch.py.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "conformance/benchmarks/memory_cases.h"

namespace primset::benchmarks {
namespace {

int threads() {
  const char* text = std::getenv("PRIMSET_CPU_THREADS");
  const int given = text == nullptr ? 0 : std::atoi(text);
  return given > 0 ? given : static_cast<int>(std::thread::hardware_concurrency());
}

void copy(benchmark::State& state) {
  std::vector<char> from(size_t{4} * kRows * kColumns, 1), to(from.size(), 2);
  for (auto _ : state) {
    plain_copy(to.data(), from.data(), to.size(), threads());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(2 * static_cast<int64_t>(to.size()) * state.iterations());
}

void run_case(benchmark::State& state, const MemoryCase& c, const Inputs& inputs, bool with_out) {
  const PreparedCase prepared(c, inputs, with_out);
  const Device device = inputs.x.device();
  prepared.run();
  synchronize(device);
  for (auto _ : state) {
    prepared.run();
    synchronize(device);
  }
  state.SetBytesProcessed(static_cast<int64_t>(c.bytes) * state.iterations());
}

void add(const std::string& name, auto body) {
  benchmark::RegisterBenchmark(name.c_str(), body)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond)
      ->MinTime(0.3);
}

int run(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  const Inputs inputs = make_inputs(current_device());
  add("plain copy", copy);
  for (const MemoryCase& c : memory_cases()) {
    for (const bool with_out : {false, true})
      add(c.name + (with_out ? " out=" : ""),
          [&inputs, &c, with_out](benchmark::State& s) { run_case(s, c, inputs, with_out); });
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace
}  // namespace primset::benchmarks

int main(int argc, char** argv) {
  try {
    return primset::benchmarks::run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "primset_memory_benchmark: %s\n", e.what());
    return 3;
  }
}
