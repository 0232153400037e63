// What a call costs on a device: device_benchmark [device...], default cpu:0. Plugins are found as
// usual; PRIMSET_PLUGIN_PATH names more folders.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "backends/common/testing/kernels.h"
#include "sdk/runtime/plugin/loader.h"

namespace primset::plugin {
namespace {

// add_bias over n elements, one a workgroup.
struct Launch {
  Launch(const PluginDevice& device, uint32_t n)
      : kernel(primset_backend_test::add_bias(device.properties().kernel_format)),
        module(device.load_module(kernel.desc(device.properties().kernel_format))),
        buffer(device.alloc(4 * uint64_t{n})) {
    for (primset_binding& b : bindings)
      b = {buffer.handle(), 0, buffer.bytes(), PRIMSET_ACCESS_READ | PRIMSET_ACCESS_WRITE, 0};
    launch.struct_size = sizeof(launch);
    launch.kernel = module.kernel();
    launch.groups[0] = n;
    launch.groups[1] = launch.groups[2] = 1;
    launch.binding_count = 2;
    launch.bindings = bindings;
    launch.scalars = &bias;
    launch.scalar_bytes = 8;
  }
  Launch(const Launch&) = delete;

  primset_backend_test::TestKernel kernel;
  ModuleHandle module;
  DeviceBuffer buffer;
  primset_binding bindings[2];
  uint64_t bias = 1;
  primset_launch launch{};
};

void launch_only(benchmark::State& state, PluginDevice* device) {
  const StreamHandle stream = device->create_stream();
  const Launch l(*device, static_cast<uint32_t>(state.range(0)));
  int64_t since = 0;
  for (auto _ : state) {
    stream.launch(l.launch);
    if (++since % 1000 == 0) {  // so that a queue does not grow without end
      state.PauseTiming();
      stream.synchronize();
      state.ResumeTiming();
    }
  }
  stream.synchronize();
}

void launch_and_wait(benchmark::State& state, PluginDevice* device) {
  const StreamHandle stream = device->create_stream();
  const Launch l(*device, static_cast<uint32_t>(state.range(0)));
  for (auto _ : state) {
    stream.launch(l.launch);
    stream.synchronize();
  }
}

void copy_in(benchmark::State& state, PluginDevice* device) {
  const StreamHandle stream = device->create_stream();
  const auto bytes = static_cast<uint64_t>(state.range(0));
  const DeviceBuffer buffer = device->alloc(bytes);
  const std::vector<char> source(bytes);
  for (auto _ : state) stream.copy_in(buffer.handle(), 0, source.data(), bytes);
  stream.synchronize();
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes));
}

void copy_out(benchmark::State& state, PluginDevice* device) {
  const StreamHandle stream = device->create_stream();
  const auto bytes = static_cast<uint64_t>(state.range(0));
  const DeviceBuffer buffer = device->alloc(bytes);
  std::vector<char> target(bytes);
  stream.copy_in(buffer.handle(), 0, target.data(), bytes);
  for (auto _ : state) stream.copy_out(buffer.handle(), 0, target.data(), bytes);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes));
}

void add_benchmarks(const std::string& name, PluginDevice* device) {
  using benchmark::RegisterBenchmark;
  RegisterBenchmark((name + "/launch").c_str(), launch_only, device)->Arg(1)->Arg(16);
  RegisterBenchmark((name + "/launch_and_wait").c_str(), launch_and_wait, device)
      ->Arg(1)
      ->Arg(16)
      ->Arg(1 << 20);
  RegisterBenchmark((name + "/copy_in").c_str(), copy_in, device)->Arg(64)->Arg(16 << 20);
  RegisterBenchmark((name + "/copy_out").c_str(), copy_out, device)->Arg(64)->Arg(16 << 20);
}

}  // namespace
}  // namespace primset::plugin

int main(int argc, char** argv) {
  using namespace primset::plugin;
  benchmark::Initialize(&argc, argv);
  std::vector<std::string> names(argv + 1, argv + argc);
  if (names.empty()) names.emplace_back("cpu:0");
  LoaderOptions options;
  options.fallback_folders = {PRIMSET_TEST_PLUGIN_DIR};
  Registry registry(std::move(options));
  std::vector<std::shared_ptr<PluginDevice>> devices;
  try {
    for (const std::string& name : names) {
      devices.push_back(registry.open(name));
      add_benchmarks(name, devices.back().get());
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "device_benchmark: %s\n", e.what());
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
