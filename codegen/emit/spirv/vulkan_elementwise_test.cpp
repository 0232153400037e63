// Every elementwise operation, type and number of lanes on a Vulkan device: C++ bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "codegen/emit/spirv/testing/elementwise_cases.h"
#include "codegen/emit/spirv/testing/reference_ops.h"
#include "codegen/emit/spirv/testing/vulkan_harness.h"

namespace primset::emit::testing {
namespace {

using kir::Op;
using kir::Scalar;

constexpr size_t kElements = 4096;
constexpr uint16_t kLanes[] = {1, 2, 4, 16};

std::vector<std::byte> packed(Scalar s, std::span<const uint64_t> values) {
  const auto size = static_cast<size_t>(kir::bytes(s));
  std::vector<std::byte> bytes(values.size() * size);
  for (size_t i = 0; i < values.size(); ++i) std::memcpy(&bytes[i * size], &values[i], size);
  return bytes;
}

uint64_t element(Scalar s, std::span<const std::byte> bytes, size_t i) {
  uint64_t v = 0;
  const auto size = static_cast<size_t>(kir::bytes(s));
  std::memcpy(&v, bytes.data() + i * size, size);
  return v;
}

struct Inputs {
  std::vector<Operands> rows;
  Inputs(const ElementwiseCase& c, uint32_t seed) : rows(kElements) {
    for (size_t j = 0; j < c.operands.size(); ++j) {
      // Of different lengths, so that special values meet each other and not only themselves.
      const size_t period = j == 0 ? kElements : 1021 - 2 * j;
      const auto values =
          interesting_values(c.operands[j], period, seed + static_cast<uint32_t>(j));
      for (size_t i = 0; i < kElements; ++i) rows[i][j] = values[(i * (j + 1)) % period];
    }
    const Scalar from = c.op == Op::Select ? c.operands[1] : c.operands[0];
    for (Operands& row : rows) {
      if (!defined(c.op, from, c.result, row)) {
        row = kir::info(c.op).operands == 1 ? Operands{0, 0, 0} : Operands{row[0], 1, row[2]};
      }
    }
  }
  std::vector<uint64_t> column(size_t j) const {
    std::vector<uint64_t> values;
    for (const Operands& row : rows) values.push_back(row[j]);
    return values;
  }
};

// The number of wrong elements; says the first ones.
size_t compare(const ElementwiseCase& c, const Inputs& in, const VulkanHarness::Buffer& out,
               std::ostringstream& report) {
  size_t wrong = 0;
  const Scalar from = c.op == Op::Select ? c.operands[1] : c.operands[0];
  for (size_t i = 0; i < kElements; ++i) {
    const uint64_t expected = reference(c.op, from, c.result, in.rows[i]);
    const uint64_t seen = element(in_memory(c.result), out.bytes, i);
    if (same_result(c.op, c.result, expected, seen)) continue;
    if (++wrong <= 4) {
      report << "  " << name_of(c) << std::hex << " of " << in.rows[i][0] << " " << in.rows[i][1]
             << " " << in.rows[i][2] << ": expected " << expected << ", got " << seen << std::dec
             << "\n";
    }
  }
  return wrong;
}

// Runs the cases, several a kernel, over every number of lanes.
void run(std::span<const ElementwiseCase> cases, bool flushes = false) {
  VulkanHarness* vulkan = VulkanHarness::get();
  if (vulkan == nullptr) GTEST_SKIP() << "no Vulkan device";
  kir::TargetModel target = vulkan->target();
  target.flush_denormals_f32 = flushes;
  constexpr size_t kBatch = 12;
  for (uint16_t lanes : kLanes) {
    for (size_t first = 0; first < cases.size(); first += kBatch) {
      const auto batch = cases.subspan(first, std::min(kBatch, cases.size() - first));
      std::vector<Inputs> inputs;
      std::vector<VulkanHarness::Buffer> outputs;
      std::vector<uint64_t> args;
      for (const ElementwiseCase& c : batch) {
        const Inputs& in = inputs.emplace_back(c, 17 + lanes);
        for (size_t j = 0; j < c.operands.size(); ++j) {
          const auto bytes = packed(in_memory(c.operands[j]), in.column(j));
          args.push_back(vulkan->buffer_of(std::span<const std::byte>(bytes)).address);
        }
        outputs.push_back(
            vulkan->buffer(kElements * static_cast<size_t>(kir::bytes(in_memory(c.result)))));
        args.push_back(outputs.back().address);
      }
      vulkan->launch(elementwise_kernel(target, batch, lanes), target, args,
                     {static_cast<uint32_t>(kElements / kElementwiseThreads / lanes), 1, 1});
      for (size_t i = 0; i < batch.size(); ++i) {
        std::ostringstream report;
        const size_t wrong = compare(batch[i], inputs[i], outputs[i], report);
        EXPECT_EQ(wrong, 0u) << name_of(batch[i]) << " x " << lanes << "\n" << report.str();
      }
      vulkan->free_buffers();
    }
  }
}

TEST(VulkanElementwise, IntBinary) {
  run(int_binary_cases());
}
TEST(VulkanElementwise, FloatArithmetic) {
  run(float_cases());
}
TEST(VulkanElementwise, Compare) {
  run(compare_cases());
}
// What a device that flushes denormals does with integers is right on any device.
TEST(VulkanElementwise, ComparesAndSignsByBits) {
  std::vector<ElementwiseCase> cases = compare_cases();
  const std::vector<ElementwiseCase> floats = float_cases();
  std::ranges::copy_if(floats, std::back_inserter(cases), [](const ElementwiseCase& c) {
    return c.op == kir::Op::FNeg || c.op == kir::Op::FAbs;
  });
  std::erase_if(cases, [](const ElementwiseCase& c) { return c.operands[0] != Scalar::f32; });
  EXPECT_EQ(cases.size(), 6u);
  run(cases, true);
}
TEST(VulkanElementwise, Select) {
  run(select_cases());
}
TEST(VulkanElementwise, IntegerConversions) {
  run(int_conversion_cases());
}
TEST(VulkanElementwise, FloatConversions) {
  run(float_conversion_cases());
}

}  // namespace
}  // namespace primset::emit::testing
