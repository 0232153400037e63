// What a process holds that calls operators with ever new structure.
//   primset_plan_memory permute|copy|einsum [CALLS] [DEVICE]
// Prints JSON: calls, plans made and kept, kernels kept, and resident bytes before and after. The
// limits are PRIMSET_MAX_PLANS and PRIMSET_MAX_KERNELS.
#include <fmt/format.h>
#include <primset/primset.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace {

using primset::Tensor;
using primset::Value;
using Dims = std::vector<int64_t>;

uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * 4096;
}

Tensor call(std::string_view name, std::initializer_list<Value> args) {
  return primset::invoke(name, args)[0].tensor();
}

// Of a tensor of eight dims, which has 40,320 permutations.
Tensor permute(const Tensor& x, std::mt19937& random) {
  Dims dims(8);
  std::iota(dims.begin(), dims.end(), 0);
  std::ranges::shuffle(dims, random);
  return call("permute", {x, dims});
}

// A kernel for each of them.
void copy(const Tensor& x, std::mt19937& random) {
  primset::invoke("clone", {permute(x, random)},
                  {{"memory_format", primset::MemoryFormat::contiguous}});
}

// The indices of two operands and of the result, in any order.
void einsum(const Tensor& x, std::mt19937& random) {
  std::string letters = "abcdefghijklmnopqrstuvwxyz";
  std::ranges::shuffle(letters, random);
  std::string operand = letters.substr(0, 8), result = operand;
  std::ranges::shuffle(result, random);
  call("einsum", {fmt::format("{}->{}", operand, result), std::vector<Tensor>{x}});
}

}  // namespace

int main(int argc, char** argv) {
  const std::string kind = argc > 1 ? argv[1] : "";
  const int calls = argc > 2 ? std::atoi(argv[2]) : 100000;
  const std::string device = argc > 3 ? argv[3] : "cpu";
  if ((kind != "permute" && kind != "copy" && kind != "einsum") || calls < 1) {
    std::fprintf(stderr, "usage: primset_plan_memory permute|copy|einsum [CALLS] [DEVICE]\n");
    return 2;
  }
  try {
    const std::vector<float> values(2 * 3 * 2 * 3 * 2 * 3 * 2 * 3, 1.0f);
    const Tensor x =
        Tensor::from_host(values.data(), {2, 3, 2, 3, 2, 3, 2, 3}, primset::DType::f32, device);
    std::mt19937 random(1);  // NOLINT(bugprone-random-generator-seed): every run does the same
    const uint64_t before = resident_bytes();
    for (int i = 0; i < calls; ++i) {
      if (kind == "permute") permute(x, random);
      if (kind == "copy") copy(x, random);
      if (kind == "einsum") einsum(x, random);
    }
    const primset::Statistics s = primset::statistics();
    fmt::print(
        "{{\"calls\": {}, \"plans_made\": {}, \"plans_cached\": {}, \"kernels_cached\": {}, "
        "\"bytes_before\": {}, \"bytes_after\": {}}}\n",
        calls, s.plans, s.plans_cached, s.kernels_cached, before, resident_bytes());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "primset_plan_memory: %s\n", e.what());
    return 1;
  }
}
