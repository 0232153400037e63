#include "conformance/benchmarks/memory_cases.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <limits>
#include <random>
#include <thread>

namespace primset::benchmarks {
namespace {

using Sizes = std::vector<int64_t>;
using Values = std::vector<Value>;

constexpr double kTensorBytes = 4.0 * kRows * kColumns;
const Sizes kMatrix = {kRows, kColumns};

Tensor nearly_normal(const Sizes& sizes, uint64_t seed, Device device) {
  int64_t count = 1;
  for (int64_t s : sizes) count *= s;
  std::vector<float> values(static_cast<size_t>(count));
  std::mt19937_64 random(seed);
  for (float& v : values) {  // the sum of four 16-bit numbers, brought to mean 0 and variance 1
    const uint64_t bits = random();
    const auto sum = static_cast<double>((bits & 0xffff) + (bits >> 16 & 0xffff) +
                                         (bits >> 32 & 0xffff) + (bits >> 48));
    v = static_cast<float>((sum / 65536.0 - 2.0) * 1.7320508);
  }
  return Tensor::from_host(values.data(), sizes, DType::f32, device);
}

std::vector<MemoryCase> make_cases() {
  const std::vector<std::pair<std::string, Sizes>> matrix = {{"out", kMatrix}};
  const auto only_x = [](const Inputs& in) { return Values{in.x}; };
  return {
      {"add", 3 * kTensorBytes, "add.Tensor", "add.out", matrix,
       [](const Inputs& in) { return Values{in.x, in.y}; }},
      {"mul_scalar", 2 * kTensorBytes, "mul.Scalar", "mul.Scalar_out", matrix,
       [](const Inputs& in) { return Values{in.x, 1.5}; }},
      {"gelu", 2 * kTensorBytes, "gelu", "gelu.out", matrix, only_x},
      {"exp", 2 * kTensorBytes, "exp", "exp.out", matrix, only_x},
      {"softmax", 2 * kTensorBytes, "_softmax", "_softmax.out", matrix,
       [](const Inputs& in) { return Values{in.x, -1, false}; }},
      {"layer_norm",
       2 * kTensorBytes,
       "native_layer_norm",
       "native_layer_norm.out",
       {{"out0", kMatrix}, {"out1", {kRows, 1}}, {"out2", {kRows, 1}}},
       [](const Inputs& in) { return Values{in.x, Sizes{kColumns}, in.weight, in.bias, 1e-5}; }},
      {"sum", kTensorBytes, "sum", "sum.out", {{"out", {}}}, only_x},
      {"transposed_copy", 2 * kTensorBytes, "contiguous", "clone.out", matrix,
       [](const Inputs& in) { return Values{Operator("t")(in.x)}; }},
  };
}

// The bit pattern is a NaN in every floating dtype.
void poison(Tensor& t) {
  static const Operator fill("fill_.Scalar");
  fill(t, std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

Inputs make_inputs(Device device) {
  return {nearly_normal(kMatrix, 1, device), nearly_normal(kMatrix, 2, device),
          nearly_normal({kColumns}, 3, device), nearly_normal({kColumns}, 4, device)};
}

const std::vector<MemoryCase>& memory_cases() {
  static const std::vector<MemoryCase> cases = make_cases();
  return cases;
}

const MemoryCase& memory_case(const std::string& name) {
  std::vector<std::string> names;
  for (const MemoryCase& c : memory_cases()) {
    if (c.name == name) return c;
    names.push_back("'" + c.name + "'");
  }
  throw Error(ErrorCode::value,
              fmt::format("there is no case '{}'; expected {}", name, fmt::join(names, ", ")));
}

PreparedCase::PreparedCase(const MemoryCase& c, const Inputs& inputs, bool with_out)
    : op_(with_out ? c.op_out : c.op),
      args_(c.arguments(inputs)),
      sizes_(c.outs[0].second),
      device_(inputs.x.device()) {
  if (!with_out) return;
  for (const auto& [name, sizes] : c.outs)
    named_.push_back({name, Tensor::empty(sizes, DType::f32, device_)});
}

Tensor PreparedCase::run_poisoned() const {
  if (named_.empty()) {
    // Memory that was just freed is what the next tensor of its size gets.
    Tensor freed = Tensor::empty(sizes_, DType::f32, device_);
    poison(freed);
  }
  for (const NamedValue& out : named_) {
    Tensor t = out.value.tensor();
    poison(t);
  }
  return run();
}

void plain_copy(void* to, const void* from, size_t bytes, int threads) {
  const size_t share = bytes / static_cast<size_t>(threads);
  std::vector<std::jthread> helpers;
  for (int i = 1; i < threads; ++i) {
    const size_t start = share * static_cast<size_t>(i);
    const size_t count = i + 1 == threads ? bytes - start : share;
    helpers.emplace_back([=] {
      std::memcpy(static_cast<char*>(to) + start, static_cast<const char*>(from) + start, count);
    });
  }
  std::memcpy(to, from, threads > 1 ? share : bytes);
}

}  // namespace primset::benchmarks
