// A process for process_test.cpp:
//   run             a few operators and a graph; prints their values, then how many kernels were
//                   compiled, found in the disk cache, and rejected there
//   overlap         many launches, some of which depend on one another; prints a digest of the
//   values store FOLDER    writes cache entries until it is killed
//   pack FILE       makes a pack of the kernel cache, for the current device
//   packed FILE     uses the pack, then as run; prints how many kernels came from it, too
// Exit code 3 with the text on standard error: a primset::Error.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

#include "primset/primset.h"
#include "sdk/runtime/cache/disk_cache.h"
#include "sdk/runtime/cache/shared_cache.h"
#include "sdk/runtime/device/device_packs.h"
#include "sdk/runtime/device/device_state.h"

namespace primset {
namespace {

Tensor call(std::string_view name, std::initializer_list<Value> args) {
  return invoke(name, args)[0].tensor();
}

void print(const Tensor& t) {
  fmt::print("{}\n", t.to_vector<float>());
}

int run() {
  const Tensor a = Tensor::of<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor b = Tensor::of<float>({3, 2, 1}, {3});
  const Tensor sum = call("add.Tensor", {a, b});
  print(sum);
  print(call("exp", {sum}));
  print(call("sum.dim_IntList", {a, std::vector<int64_t>{0}}));
  print(call("mm", {a, call("t", {a})}));
  print(call("embedding", {a, Tensor::of<int64_t>({1, 0}, {2})}));
  invoke("add_.Tensor", {call("slice.Tensor", {a, 0, 1, 2}), 10});
  print(a);
  const Graph graph = Graph::capture({a, b}, [](std::span<const Tensor> in) {
    const Tensor t = call("mul.Tensor", {in[0], in[1]});
    return std::vector<Tensor>{call("softmax.int", {call("tanh", {t}), 1})};
  });
  print(graph.run({a, b})[0]);
  synchronize();
  const Statistics s = statistics();
  fmt::print("kernels: {} compiled, {} from disk, {} rejected\n", s.kernels_compiled,
             s.kernel_disk_hits, s.kernel_disk_rejects);
  return 0;
}

// Chains of operators side by side: what lies between two links of a chain are launches that do not
// touch it, so that a missing barrier shows.
int overlap() {
  constexpr int kChains = 6, kLinks = 40;
  std::vector<Tensor> chains;
  for (int c = 0; c < kChains; ++c) {
    std::vector<float> values(1 << 14);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((i * 7 + c) % 101);
    chains.push_back(Tensor::of<float>(std::span<const float>(values), {128, 128}));
  }
  for (int link = 0; link < kLinks; ++link) {
    for (size_t c = 0; c < chains.size(); ++c) {
      Tensor& t = chains[c];
      const Tensor& other = chains[(c + static_cast<size_t>(link)) % chains.size()];
      if (link % 3 == 0) t = call("add.Tensor", {t, call("mul.Scalar", {other, 0.25})});
      if (link % 3 == 1) t = call("cumsum", {call("t", {call("tanh", {t})}), 1});
      if (link % 3 == 2)
        invoke("index_add_",
               {t, 0, Tensor::of<int64_t>({3, 77}, {2}), call("slice.Tensor", {other, 0, 5, 7})});
    }
  }
  runtime::Sha256 digest;
  for (const Tensor& t : chains) {
    const std::vector<float> values = t.to_vector<float>();
    digest.add(std::string_view(reinterpret_cast<const char*>(values.data()),
                                values.size() * sizeof(float)));
  }
  fmt::print("digest: {}\n", runtime::hex(digest.finish()));
  return 0;
}

[[noreturn]] void store(const char* folder) {
  const runtime::DiskCache cache{std::filesystem::path(folder)};
  std::vector<uint8_t> payload(1 << 20);
  for (uint8_t i = 0;; ++i) {
    std::ranges::fill(payload, i);
    cache.store("kernels", runtime::sha256(std::span<const uint8_t>(&i, 1)), payload);
  }
}

int pack(const char* file) {
  const runtime::DeviceState& device = runtime::device_state(current_device());
  const runtime::PackIdentity identity = runtime::pack_identity(device.plugin(), device.target());
  runtime::write_pack(file, identity, runtime::pack_entries(*runtime::shared_cache(), identity));
  return 0;
}

int run_packed(const char* file) {
  use_pack(file, current_device());
  run();
  fmt::print("{} from the pack\n", statistics().kernel_pack_hits);
  return 0;
}

int main(int argc, char** argv) {
  try {
    if (argc == 3 && std::strcmp(argv[1], "pack") == 0) return pack(argv[2]);
    if (argc == 3 && std::strcmp(argv[1], "packed") == 0) return run_packed(argv[2]);
    if (argc == 2 && std::strcmp(argv[1], "run") == 0) return run();
    if (argc == 2 && std::strcmp(argv[1], "overlap") == 0) return overlap();
    if (argc == 3 && std::strcmp(argv[1], "store") == 0) store(argv[2]);
  } catch (const Error& e) {
    fmt::print(stderr, "{}: {}\n", name(e.code()), e.what());
    return 3;
  }
  fmt::print(stderr, "usage: child run | overlap | store FOLDER | pack FILE | packed FILE\n");
  return 2;
}

}  // namespace
}  // namespace primset

int main(int argc, char** argv) {
  return primset::main(argc, argv);
}
