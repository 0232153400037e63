// The numeric environment of a Vulkan device, measured: what a plugin must declare about it. Each
// fact is printed; what kernel IR promises on every device is asserted.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <iostream>
#include <random>

#include "codegen/emit/spirv/testing/elementwise_cases.h"
#include "codegen/emit/spirv/testing/reference_ops.h"
#include "codegen/emit/spirv/testing/sample_kernels.h"
#include "codegen/emit/spirv/testing/vulkan_harness.h"
#include "codegen/kernel/ir/builder.h"

namespace primset::emit::testing {
namespace {

using Buffer = VulkanHarness::Buffer;
using kir::Builder;
using kir::Op;
using kir::Value;

constexpr size_t kSamples = 1 << 18;

class VulkanNumerics : public ::testing::Test {
 protected:
  void SetUp() override {
    vulkan_ = VulkanHarness::get();
    if (vulkan_ == nullptr) GTEST_SKIP() << "no Vulkan device";
  }
  void TearDown() override {
    if (vulkan_ != nullptr) vulkan_->free_buffers();
  }

  void fact(const std::string& what, const std::string& seen) {
    std::cout << vulkan_->device_name() << ": " << what << ": " << seen << "\n";
    RecordProperty("fact", what + ": " + seen);
  }

  // Results of one operation on `count` rows of bits; make(i, j) gives operand j of row i.
  template <typename F>
  std::vector<uint64_t> run(const ElementwiseCase& c, size_t count, const F& make) {
    std::vector<uint64_t> args;
    for (size_t j = 0; j < c.operands.size(); ++j) {
      const auto size = static_cast<size_t>(kir::bytes(c.operands[j]));
      const Buffer in = vulkan_->buffer(count * size);
      for (size_t i = 0; i < count; ++i) {
        const uint64_t bits = make(i, j);
        std::memcpy(in.bytes.data() + i * size, &bits, size);
      }
      args.push_back(in.address);
    }
    const auto size = static_cast<size_t>(kir::bytes(c.result));
    const Buffer out = vulkan_->buffer(count * size);
    args.push_back(out.address);
    kir::TargetModel target = vulkan_->target();
    target.fused_fma = target.fast_exp2 = true;  // else they are refused before they are measured
    vulkan_->launch(elementwise_kernel(target, {&c, 1}, 1), target, args,
                    {static_cast<uint32_t>(count / kElementwiseThreads), 1, 1});
    std::vector<uint64_t> results(count);
    for (size_t i = 0; i < count; ++i) {
      std::memcpy(&results[i], out.bytes.data() + i * size, size);
    }
    return results;
  }

  // How many results differ from the correctly rounded ones.
  size_t wrong(const ElementwiseCase& c, uint32_t seed) {
    std::vector<std::vector<uint64_t>> in;
    for (size_t j = 0; j < c.operands.size(); ++j) {
      in.push_back(interesting_values(c.operands[j], kSamples - 61 * j, seed + 1000 * uint32_t(j)));
    }
    const auto make = [&](size_t i, size_t j) { return in[j][i % in[j].size()]; };
    const auto results = run(c, kSamples, make);
    size_t n = 0;
    for (size_t i = 0; i < kSamples; ++i) {
      Operands x{};
      for (size_t j = 0; j < c.operands.size(); ++j) x[j] = make(i, j);
      if (!defined(c.op, c.operands[0], c.result, x)) continue;
      n += !same_result(c.op, c.result, reference(c.op, c.operands[0], c.result, x), results[i]);
    }
    return n;
  }

  VulkanHarness* vulkan_ = nullptr;
};

TEST_F(VulkanNumerics, DivisionAndSquareRoot) {
  for (Scalar s : {Scalar::f32, Scalar::f64}) {
    for (Op op : {Op::FDiv, Op::FSqrt}) {
      const std::vector<Scalar> operands(static_cast<size_t>(kir::info(op).operands), s);
      const size_t n = wrong({op, operands, s}, 3);
      fact(std::string(kir::info(op).text) + " " + std::string(kir::name(s)) + " correctly rounded",
           n == 0 ? "yes" : "no, " + std::to_string(n) + " of " + std::to_string(kSamples));
    }
  }
}

TEST_F(VulkanNumerics, FusedMultiplyAdd) {
  for (Scalar s : {Scalar::f32, Scalar::f64}) {
    const size_t n = wrong({Op::Fma, {s, s, s}, s}, 5);
    fact("fma " + std::string(kir::name(s)) + " rounds once", n == 0 ? "yes" : "no");
  }
}

TEST_F(VulkanNumerics, FastFunctions) {
  const ElementwiseCase power{Op::FExp2, {Scalar::f32}, Scalar::f32};
  const ElementwiseCase inverse{Op::FReciprocal, {Scalar::f32}, Scalar::f32};
  const ElementwiseCase inverse_root{Op::FRsqrt, {Scalar::f32}, Scalar::f32};
  const auto greatest = [&](const ElementwiseCase& c, double from, double to, auto exact) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> between(from, to);
    std::vector<float> x(kSamples);
    for (float& v : x)
      v = static_cast<float>(c.op == Op::FExp2 ? between(random) : std::exp2(between(random)));
    const auto results =
        run(c, kSamples, [&](size_t i, size_t) { return std::bit_cast<uint32_t>(x[i]); });
    double most = 0;
    for (size_t i = 0; i < kSamples; ++i) {
      const double want = exact(x[i]),
                   got = std::bit_cast<float>(static_cast<uint32_t>(results[i]));
      most = std::max(most, std::isfinite(got) ? std::abs(got / want - 1) : HUGE_VAL);
    }
    return "2^" + std::to_string(std::log2(most));
  };
  fact("exp2 f32 off by", greatest(power, -126, 127, [](double x) { return std::exp2(x); }));
  fact("1 / x f32 off by", greatest(inverse, -126, 126, [](double x) { return 1 / x; }));
  fact("1 / sqrt(x) f32 off by",
       greatest(inverse_root, -126, 127, [](double x) { return 1 / std::sqrt(x); }));
}

TEST_F(VulkanNumerics, Denormals) {
  for (Scalar s : {Scalar::f32, Scalar::f64}) {
    // x + 0, x * 1 and smallest normal / 2, for denormal x.
    const uint64_t one = s == Scalar::f32 ? 0x3f800000u : 0x3ff0000000000000u;
    const auto denormal = [](size_t i) { return static_cast<uint64_t>(i * 7 + 1); };
    const std::string name(kir::name(s));
    for (Op op : {Op::FAdd, Op::FMul}) {
      const auto results = run({op, {s, s}, s}, 4096, [&](size_t i, size_t j) {
        return j == 0 ? denormal(i) : op == Op::FAdd ? 0 : one;
      });
      size_t kept = 0;
      for (size_t i = 0; i < results.size(); ++i) kept += results[i] == denormal(i);
      fact(std::string(kir::info(op).text) + " " + name + " keeps denormals",
           kept == results.size() ? "yes"
           : kept == 0            ? "no"
                                  : "sometimes");
    }
  }
}

TEST_F(VulkanNumerics, Conversions) {
  using enum Scalar;
  for (const ElementwiseCase& c : std::vector<ElementwiseCase>{{Op::FPTrunc, {f64}, f32},
                                                               {Op::FPTrunc, {f32}, f16},
                                                               {Op::SIToFP, {i64}, f32},
                                                               {Op::UIToFP, {i64}, f32},
                                                               {Op::SIToFP, {i64}, f64},
                                                               {Op::UIToFP, {i64}, f64},
                                                               {Op::SIToFP, {i32}, f32},
                                                               {Op::UIToFP, {i32}, f32},
                                                               {Op::FPToSI, {f64}, i64},
                                                               {Op::FPToUI, {f64}, i64},
                                                               {Op::FPToSI, {f32}, i64},
                                                               {Op::FPToUI, {f32}, i64}}) {
    const size_t n = wrong(c, 9);
    fact(name_of(c) + " exact", n == 0 ? "yes" : "no, " + std::to_string(n));
    EXPECT_EQ(n, 0u) << name_of(c);
  }
}

// a * b + c with a rounding in between, and (a + b) - b, neither of which may be simplified.
TEST_F(VulkanNumerics, NothingIsContractedOrReassociated) {
  Builder b("contraction", vulkan_->target());
  const Value in = b.pointer_param("in", true, false), out = b.pointer_param("out", false, true);
  b.set_group_size(64);
  const Value i = b.add(b.mul(b.group_id(0), b.i32(64)), b.local_id(0));
  const auto load = [&](int k) {
    return b.load(kir::kF32, in, b.add(b.mul(i, b.i32(3)), b.i32(k)), 4);
  };
  const Value x = load(0), y = load(1), z = load(2);
  const Value results[] = {
      b.fadd(b.fmul(x, y), z),
      b.fsub(b.fadd(x, y), y),
      b.fadd(b.fadd(x, b.constant_f(kir::kF32, 1e8)), b.constant_f(kir::kF32, -1e8)),
      b.fmul(b.fdiv(x, y), y),
      b.fsub(b.constant_f(kir::kF32, 0), x),
      b.fadd(x, b.constant_f(kir::kF32, 0)),
      b.fsub(x, x)};
  for (int k = 0; k < 7; ++k) b.store(out, b.add(b.mul(i, b.i32(7)), b.i32(k)), results[k], 4);
  const Kernel kernel = std::move(b).finish();

  const auto bits = interesting_values(Scalar::f32, 3 * 4096, 21);
  const Buffer from = vulkan_->buffer(bits.size() * 4), to = vulkan_->buffer(4096 * 7 * 4);
  for (size_t k = 0; k < bits.size(); ++k) from.as<uint32_t>()[k] = static_cast<uint32_t>(bits[k]);
  vulkan_->launch(kernel, {from.address, to.address}, {64, 1, 1});
  for (size_t k = 0; k < 4096; ++k) {
    const auto f = from.as<float>().subspan(3 * k, 3);
    // Volatile: the compiler of this test is not to be trusted either.
    volatile float product = f[0] * f[1], sum = f[0] + f[1], big = f[0] + 1e8f, ratio = f[0] / f[1];
    const float expected[] = {product + f[2], sum - f[1],  big + -1e8f, ratio * f[1],
                              0.0f - f[0],    f[0] + 0.0f, f[0] - f[0]};
    for (size_t r = 0; r < 7; ++r) {
      const uint32_t seen = to.as<uint32_t>()[7 * k + r];
      EXPECT_TRUE(same_result(Op::FAdd, Scalar::f32, std::bit_cast<uint32_t>(expected[r]), seen))
          << "result " << r << " of " << f[0] << " " << f[1] << " " << f[2] << ": "
          << std::bit_cast<float>(seen) << ", expected " << expected[r];
    }
  }
}

// A division behind an if must not run where the condition fails: software drivers execute all
// lanes.
TEST_F(VulkanNumerics, GuardedDivisionDoesNotTrap) {
  for (Scalar s : {Scalar::i8, Scalar::i16, Scalar::i32, Scalar::i64}) {
    for (bool signed_division : {true, false}) {
      Builder b("guarded_division", vulkan_->target());
      const Value in = b.pointer_param("in", true, false),
                  out = b.pointer_param("out", false, true);
      b.set_group_size(64);
      const auto align = static_cast<uint32_t>(kir::bytes(s));
      const Value i = b.local_id(0);
      const kir::Type t{s};
      const Value x = b.load(t, in, b.mul(i, b.i32(2)), align),
                  y = b.load(t, in, b.add(b.mul(i, b.i32(2)), b.i32(1)), align);
      const Value safe = b.slt(b.constant(t, 0), y);
      const auto zero = [&] { return Builder::Values{b.constant(t, 0)}; };
      const Value q = b.if_else(
          safe, [&] { return Builder::Values{signed_division ? b.sdiv(x, y) : b.udiv(x, y)}; },
          zero)[0];
      const Value r = b.if_else(
          safe, [&] { return Builder::Values{signed_division ? b.srem(x, y) : b.urem(x, y)}; },
          zero)[0];
      b.store(out, i, b.add(q, r), align);
      const Kernel kernel = std::move(b).finish();
      const auto size = static_cast<size_t>(align);
      const Buffer from = vulkan_->buffer(128 * size), to = vulkan_->buffer(64 * size);
      const uint64_t min = uint64_t{1} << (8 * size - 1), minus_one = ~uint64_t{0};
      for (size_t k = 0; k < 64; ++k) {
        const uint64_t divisor = k % 3 == 0 ? minus_one : k % 3 == 1 ? 0 : 3;
        std::memcpy(from.bytes.data() + 2 * k * size, &min, size);
        std::memcpy(from.bytes.data() + (2 * k + 1) * size, &divisor, size);
      }
      vulkan_->launch(kernel, {from.address, to.address});
      for (size_t k = 0; k < 64; ++k) {
        uint64_t seen = 0;
        std::memcpy(&seen, to.bytes.data() + k * size, size);
        if (k % 3 != 2) EXPECT_EQ(seen, 0u) << kir::name(s);
      }
    }
  }
}

// How long the device's compiler takes. Printed, not judged.
TEST_F(VulkanNumerics, PipelineCreation) {
  for (int operations : {10, 100, 500, 2000}) {
    Builder b("straight_line", vulkan_->target());
    const Value in = b.pointer_param("in", true, false), out = b.pointer_param("out", false, true);
    b.set_group_size(64);
    const Value i = b.add(b.mul(b.group_id(0), b.i32(64)), b.local_id(0));
    const Value x = b.load(kir::kF32, in, i, 4);
    Value y = x;
    for (int k = 0; k < operations; k += 4) {
      y = b.fadd(b.fmul(y, b.constant_f(kir::kF32, 1 + 0.001 * k)), x);
      y = b.select(b.flt(y, b.constant_f(kir::kF32, 100.0 + k)), y, x);
    }
    b.store(out, i, y, 4);
    const Kernel kernel = std::move(b).finish();
    const Buffer from = vulkan_->buffer(256), to = vulkan_->buffer(256);
    vulkan_->launch(kernel, {from.address, to.address});
    const auto t = vulkan_->timing();
    fact(std::to_string(operations) + " operations",
         "emit " + std::to_string(t.emit_ms) + " ms, pipeline " + std::to_string(t.pipeline_ms) +
             " ms, first run " + std::to_string(t.run_ms) + " ms (less where drivers cache)");
  }
}

}  // namespace
}  // namespace primset::emit::testing
