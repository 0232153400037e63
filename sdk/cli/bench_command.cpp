#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "primset/statistics.h"
#include "sdk/cli/command.h"
#include "sdk/cli/literals.h"
#include "sdk/cli/output.h"
#include "sdk/runtime/call/bind.h"
#include "sdk/runtime/call/dispatch.h"

namespace primset::cli {
namespace {

struct BenchOptions : OperatorOptions {
  bool json = false, step = false;
  int repeats = 25;
  double seconds = 1.0;  // for all repeats together
};

struct Figures {
  double first_ms = 0;  // the first call, which makes the plan
  double median_ns = 0, low_ns = 0, high_ns = 0;
  uint64_t calls = 0;  // in each repeat
  double bytes = 0;    // read and written by one call, at least
};

class Bench {
 public:
  explicit Bench(const OperatorOptions::Bound& bound) : bound_(bound), call_(*bound.info) {
    runtime::bind_or_throw(call_, bound.args, bound.kwargs, scratch_);
  }

  // Nanoseconds a call, over `n` calls and the wait for the device.
  double time(uint64_t n, Device device) {
    const auto start = std::chrono::steady_clock::now();
    for (uint64_t i = 0; i < n; ++i) {
      runtime::Call call(*bound_.info);
      call.args = call_.args;
      runtime::dispatch(call);
      if (i == 0) note_bytes(call);
    }
    synchronize(device);
    const std::chrono::duration<double, std::nano> elapsed =
        std::chrono::steady_clock::now() - start;
    return elapsed.count() / static_cast<double>(n);
  }
  double bytes() const { return bytes_; }

 private:
  static double size(const runtime::TensorImpl& t) {
    return static_cast<double>(t.numel()) * static_cast<double>(byte_size(t.dtype));
  }
  void note_bytes(const runtime::Call& call) {
    bytes_ = 0;
    runtime::for_each_tensor(
        call.args, [&](const runtime::TensorImpl& t, uint32_t, uint32_t) { bytes_ += size(t); });
    for (size_t k = 0; k < call.results.size(); ++k) bytes_ += size(*call.results[k]);
  }

  const OperatorOptions::Bound& bound_;
  runtime::BindScratch scratch_;
  runtime::Call call_;
  double bytes_ = 0;
};

// The first call, and how many make a repeat as long as asked for.
Figures prepare(const BenchOptions& options, Bench& bench, Device device) {
  Figures f;
  f.first_ms = bench.time(1, device) / 1e6;
  const double once = std::max(bench.time(3, device), 1.0);
  f.calls = std::clamp<uint64_t>(
      static_cast<uint64_t>(options.seconds * 1e9 / options.repeats / once), 1, 1u << 20);
  f.bytes = bench.bytes();
  return f;
}

// In turns with something else: one repeat for each line that arrives.
int step(const BenchOptions& options) {
  const OperatorOptions::Bound bound = options.bind();
  const Device device = options.chosen_device();
  Bench bench(bound);
  const Figures f = prepare(options, bench, device);
  const nlohmann::json ready{{"first_ms", f.first_ms}, {"calls", f.calls}, {"bytes", f.bytes}};
  fmt::print("{}\n", json_text(ready));
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    fmt::print("{:.1f}\n", bench.time(f.calls, device));
    std::fflush(stdout);
  }
  return kOk;
}

Figures measure(const BenchOptions& options) {
  const OperatorOptions::Bound bound = options.bind();
  const Device device = options.chosen_device();
  Bench bench(bound);
  Figures f = prepare(options, bench, device);
  std::vector<double> times;
  for (int i = 0; i < options.repeats; ++i) times.push_back(bench.time(f.calls, device));
  std::ranges::sort(times);
  f.median_ns = times[times.size() / 2];
  f.low_ns = times.front();
  f.high_ns = times.back();
  return f;
}

int bench_command(const BenchOptions& options) {
  if (options.step) return step(options);
  const Figures f = measure(options);
  const double rate = f.bytes / f.median_ns;
  if (options.json) {
    const nlohmann::json out{
        {"operator", options.op}, {"device", options.chosen_device().to_string()},
        {"first_ms", f.first_ms}, {"median_ns", f.median_ns},
        {"low_ns", f.low_ns},     {"high_ns", f.high_ns},
        {"calls", f.calls},       {"repeats", options.repeats},
        {"bytes", f.bytes},       {"gb_per_s", rate}};
    fmt::print("{}\n", json_text(out, 1));
  } else {
    fmt::print(
        "{} on {}\n  first call  {:.2f} ms\n  each call   {:.0f} ns  ({:.0f} to {:.0f}, {} x {})\n"
        "  memory      {:.2f} GB/s\n",
        options.op, options.chosen_device().to_string(), f.first_ms, f.median_ns, f.low_ns,
        f.high_ns, options.repeats, f.calls, rate);
  }
  return kOk;
}

const Command kBenchCommand(
    "bench", "Time an operator",
    "Example:\n"
    "  primset bench add.Tensor --shapes 1024x1024\n"
    "  primset bench mm --shapes 512x512 --device vulkan:0 --json\n"
    "The first call includes compilation (PRIMSET_CACHE=off to see all of it). `each call` is the "
    "median\n"
    "over the repeats, with the least and the most; memory counts every tensor once. With --step "
    "the\n"
    "first line of output is an object, and each line on standard input is answered with one "
    "repeat's\n"
    "nanoseconds a call, so that a script can let another library take turns with it.",
    [](CLI::App& app) {
      auto o = std::make_shared<BenchOptions>();
      o->declare(app);
      app.add_option("--repeats", o->repeats, "How often the time is taken")
          ->capture_default_str()
          ->check(CLI::Range(1, 10000));
      app.add_option("--seconds", o->seconds, "How long all repeats take together, about")
          ->capture_default_str()
          ->check(CLI::Range(0.001, 3600.0));
      app.add_flag("--json", o->json, "One object");
      app.add_flag("--step", o->step, "One repeat for each line on standard input");
      return [o] { return bench_command(*o); };
    });

}  // namespace
}  // namespace primset::cli
