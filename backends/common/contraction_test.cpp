// Products of matrices by every device that computes some itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "backends/common/element_bytes.h"
#include "backends/common/testing/contractions.h"
#include "backends/common/testing/device_under_test.h"

namespace primset_backend_test {
namespace {

using primset::plugin::LoaderOptions;
using primset::plugin::PluginDevice;
using primset::plugin::Registry;
using primset::plugin::StreamHandle;
using primset::plugin::ValidationOptions;

struct Types {
  const char* name;
  uint32_t operands, result;
  // Bits of the numbers that are added, and of the result.
  int sum_bits, result_bits;
};

// Tensor cores cut sums off where other units round them: one bit less for what they multiply.
constexpr Types kTypes[] = {
    {"f16", PRIMSET_F16, PRIMSET_F32, 23, 24},
    {"f16_to_f16", PRIMSET_F16, PRIMSET_F16, 23, 11},
    {"bf16", PRIMSET_BF16, PRIMSET_F32, 23, 24},
    {"bf16_to_bf16", PRIMSET_BF16, PRIMSET_BF16, 23, 8},
    {"f32", PRIMSET_F32, PRIMSET_F32, 24, 24},
    {"f64", PRIMSET_F64, PRIMSET_F64, 53, 53},
    {"c64", PRIMSET_C64, PRIMSET_C64, 24, 24},
    {"c128", PRIMSET_C128, PRIMSET_C128, 53, 53},
    {"i8", PRIMSET_I8, PRIMSET_I32, 0, 0},
};

class DeviceContraction : public testing::TestWithParam<Types> {
 protected:
  void SetUp() override {
    LoaderOptions options;
    options.path = {plugin_folder_under_test()};
    options.cache = std::make_shared<const primset::runtime::DiskCache>(
        std::filesystem::path(testing::TempDir()) / "primset_contraction_test");
    options.validation = ValidationOptions{};
    registry = std::make_unique<Registry>(std::move(options));
    device = registry->open(device_under_test());
    stream = device->create_stream();
  }
  void TearDown() override {
    if (!device) return;
    const auto plugin = registry->plugin(device->plugin().name());
    stream.reset();
    device.reset();
    EXPECT_THAT(plugin->validation()->findings(), testing::IsEmpty());
  }

  void expect_right(const TestContraction& c, const TestNumbers& a, const TestNumbers& b,
                    std::span<const char> out, const TestNumbers* bias = nullptr) {
    const Types& types = GetParam();
    std::vector<TestSum> expected = sums(c, a, b);
    for (size_t i = 0; bias && i < expected.size(); ++i) {
      const std::complex<double> term = bias->values[i % static_cast<size_t>(c.n)];
      expected[i].value += term;
      expected[i].size += std::abs(term);
    }
    const std::vector<std::complex<double>> got = numbers(out, types.result);
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i) {
      double bound = 0;
      if (types.sum_bits > 0) {
        // A complex product is two products and a sum for each of its halves.
        const int factor = types.operands == PRIMSET_C64 || types.operands == PRIMSET_C128 ? 3 : 1;
        bound = expected[i].size * factor * static_cast<double>(c.k + 1) *
                    std::ldexp(1, -types.sum_bits) +
                std::abs(expected[i].value) * std::ldexp(1, -types.result_bits);
      }
      ASSERT_LE(std::abs(got[i] - expected[i].value), bound)
          << c.name << " element " << i << ": " << got[i] << ", expected " << expected[i].value;
    }
  }

  std::unique_ptr<Registry> registry;
  std::shared_ptr<PluginDevice> device;
  StreamHandle stream;
};

INSTANTIATE_TEST_SUITE_P(, DeviceContraction, testing::ValuesIn(kTypes),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(DeviceContraction, IsRight) {
  const Types& types = GetParam();
  size_t ran = 0;
  for (const TestContraction& c : test_contractions()) {
    ContractionCall call(c, types.operands, types.result);
    const auto primitive = call.find(*device);
    if (!primitive) continue;
    ++ran;
    const TestNumbers a = random_numbers(c.a, types.operands, 1),
                      b = random_numbers(c.b, types.operands, 2);
    expect_right(c, a, b, call.run(*device, stream, *primitive, a, b));
  }
  if (ran == 0) GTEST_SKIP() << "left to kernels";
  RecordProperty("contractions", static_cast<int>(ran));
}

// As the derived primitive, which rounds to the operands' dtype; alone and with a bias.
TEST_P(DeviceContraction, IsRightAsMatmul) {
  using Form = ContractionCall::Form;
  const Types& types = GetParam();
  if (types.operands != types.result) GTEST_SKIP() << "no matmul";
  size_t ran = 0;
  for (const Form form : {Form::matmul, Form::matmul_with_bias}) {
    for (const uint64_t first : {0, 1}) {
      for (const TestContraction& given : test_contractions()) {
        const auto c = as_matmul(given);
        if (!c || c->m * c->n * c->k > 2000000) continue;
        ContractionCall call(*c, types.operands, types.result, form);
        for (primset_tensor& t : call.operands)
          t.offset = first * primset_backend::element_bytes(types.operands);
        call.result.offset = first * primset_backend::element_bytes(types.result);
        const auto primitive = call.find(*device);
        if (!primitive) continue;
        ++ran;
        const TestNumbers a = random_numbers(c->a, types.operands, 7),
                          b = random_numbers(c->b, types.operands, 8),
                          bias = random_numbers(call.bias(), types.operands, 9);
        const TestNumbers* added = form == Form::matmul_with_bias ? &bias : nullptr;
        expect_right(*c, a, b, call.run(*device, stream, *primitive, a, b, first, added), added);
      }
    }
  }
  if (ran == 0) GTEST_SKIP() << "left to kernels";
}

// Memory that begins at any element is as good as any other.
TEST_P(DeviceContraction, IsRightAtEveryAlignment) {
  const Types& types = GetParam();
  size_t ran = 0;
  for (const uint64_t first : {1, 2, 3, 4, 8}) {
    for (const TestContraction& c : test_contractions()) {
      if (c.m * c.n * c.k > 100000) continue;
      ContractionCall call(c, types.operands, types.result);
      call.operands[0].offset = call.operands[1].offset =
          first * primset_backend::element_bytes(types.operands);
      call.result.offset = first * primset_backend::element_bytes(types.result);
      const auto primitive = call.find(*device);
      if (!primitive) continue;
      ++ran;
      const TestNumbers a = random_numbers(c.a, types.operands, 3),
                        b = random_numbers(c.b, types.operands, 4);
      expect_right(c, a, b, call.run(*device, stream, *primitive, a, b, first));
    }
  }
  if (ran == 0) GTEST_SKIP() << "left to kernels";
}

TEST_P(DeviceContraction, HasTheSameBitsEachTime) {
  const Types& types = GetParam();
  const StreamHandle other = device->create_stream();
  for (const TestContraction& c : test_contractions()) {
    ContractionCall call(c, types.operands, types.result);
    const auto primitive = call.find(*device);
    if (!primitive) continue;
    const TestNumbers a = random_numbers(c.a, types.operands, 5),
                      b = random_numbers(c.b, types.operands, 6);
    const std::vector<char> once = call.run(*device, stream, *primitive, a, b);
    EXPECT_EQ(call.run(*device, stream, *primitive, a, b), once) << c.name;
    EXPECT_EQ(call.run(*device, other, *primitive, a, b), once) << c.name << " on another stream";
  }
}

}  // namespace
}  // namespace primset_backend_test
