// Every operation in both flavours is a valid module; what validation does not see is looked for in
// the text.
#include "codegen/emit/spirv/spirv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/emit/spirv/elementwise_cases.h"
#include "codegen/emit/spirv/sample_kernels.h"
#include "codegen/emit/spirv/vulkan_harness.h"
#include "codegen/kernel/builder.h"
#include "codegen/kernel/verifier.h"
#include "primset/error.h"

namespace primset::emit::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

TargetModel target_of(kir::Format format) {
  TargetModel t;
  t.format = format;
  t.simt = true;
  t.f16 = true;
  t.min_subgroup = t.max_subgroup = 8;
  t.subgroup_ballot = true;
  return t;
}

class Spirv : public ::testing::TestWithParam<kir::Format> {
 protected:
  void expect_valid(const std::string& name, const Kernel& kernel, const TargetModel& target,
                    bool verified = true) {
    if (verified) kir::verify_or_throw(kernel, target);
    const auto words = emit_spirv(kernel, target);
    const std::string problems = validate_spirv(words, target.format);
    EXPECT_EQ(problems, "") << name << "\n" << disassemble_spirv(words);
  }
};

TEST_P(Spirv, ElementwiseOperationsAreValid) {
  TargetModel target = target_of(GetParam());
  target.fast_exp2 = true;
  for (const auto& cases :
       {int_binary_cases(), float_cases(), fma_cases(), fast_float_cases(), compare_cases(),
        select_cases(), int_conversion_cases(), float_conversion_cases()}) {
    for (const ElementwiseCase& c : cases) {
      for (uint16_t lanes : {1, 2, 4, 8, 16, 64}) {
        expect_valid(name_of(c), elementwise_kernel(target, {&c, 1}, lanes), target);
      }
    }
  }
}

TEST_P(Spirv, SamplesAreValid) {
  const TargetModel target = target_of(GetParam());
  for (const Sample& s : all_samples(target)) expect_valid(s.name, s.kernel, target, s.verified);
}

TEST_P(Spirv, SamplesAreValidUnderALoopLimit) {
  TargetModel target = target_of(GetParam());
  target.loop_limit = 65535;
  for (const Sample& s : all_samples(target)) expect_valid(s.name, s.kernel, target, s.verified);
}

TEST_P(Spirv, ComparesAndSignsAreOfIntegersWhereDenormalsAreFlushed) {
  TargetModel target = target_of(GetParam());
  target.flush_denormals_f32 = true;
  for (const auto& cases : {float_cases(), compare_cases()}) {
    for (const ElementwiseCase& c : cases) {
      const bool sign = c.op == kir::Op::FNeg || c.op == kir::Op::FAbs;
      if (c.operands[0] != Scalar::f32 || (c.result != Scalar::i1 && !sign)) continue;
      for (uint16_t lanes : {1, 4, 16})
        expect_valid(name_of(c), elementwise_kernel(target, {&c, 1}, lanes), target);
      const std::string text =
          disassemble_spirv(emit_spirv(elementwise_kernel(target, {&c, 1}, 1), target));
      for (const char* looks : {"OpFOrd", "OpFUnord", "OpFNegate", "FAbs", "fabs"})
        EXPECT_THAT(text, Not(HasSubstr(looks))) << name_of(c);
    }
  }
}

TEST_P(Spirv, FloatControlsAreValidAndAsUsed) {
  TargetModel target = target_of(GetParam());
  target.float_controls_nan = target.float_controls_rte = target.float_controls_denorm =
      16 | 32 | 64;
  const Kernel kernel = tree_sum(target, Scalar::f32, 64);
  expect_valid("tree_sum", kernel, target);
  const std::string text = disassemble_spirv(emit_spirv(kernel, target));
  EXPECT_THAT(text, HasSubstr("SignedZeroInfNanPreserve 32"));
  EXPECT_THAT(text, HasSubstr("RoundingModeRTE 32"));
  EXPECT_THAT(text, HasSubstr("DenormPreserve 32"));
  EXPECT_THAT(text, Not(HasSubstr("Preserve 64")));
}

TEST_P(Spirv, NoParametersNoBlock) {
  const TargetModel target = target_of(GetParam());
  kir::Builder b("empty", target);
  const Kernel kernel = std::move(b).finish();
  expect_valid("empty", kernel, target);
  EXPECT_THAT(disassemble_spirv(emit_spirv(kernel, target)), Not(HasSubstr("PushConstant")));
}

INSTANTIATE_TEST_SUITE_P(Flavours, Spirv,
                         ::testing::Values(kir::Format::spirv_vulkan, kir::Format::spirv_kernel),
                         [](const auto& info) {
                           return info.param == kir::Format::spirv_vulkan ? "Vulkan" : "Kernel";
                         });

std::string text_of(const Kernel& kernel, const TargetModel& target) {
  return disassemble_spirv(emit_spirv(kernel, target));
}

TEST(SpirvText, OnlyCapabilitiesUsed) {
  const TargetModel target = target_of(kir::Format::spirv_vulkan);
  const std::string text = text_of(tree_sum(target, Scalar::f32, 64), target);
  for (const char* unused : {"Int8", "Int16", "Float16", "Float64", "Int64Atomics",
                             "GroupNonUniform", "StorageBuffer8BitAccess"}) {
    EXPECT_THAT(text, Not(HasSubstr(std::string("OpCapability ") + unused))) << text;
  }
}

TEST(SpirvText, EveryFloatOperationIsNotContracted) {
  const TargetModel target = target_of(kir::Format::spirv_vulkan);
  for (const auto& cases : {float_cases(), fma_cases()}) {
    for (const ElementwiseCase& c : cases) {
      const std::string text = text_of(elementwise_kernel(target, {&c, 1}, 1), target);
      EXPECT_THAT(text, HasSubstr("NoContraction")) << name_of(c);
    }
  }
}

TEST(SpirvText, BarrierSemantics) {
  const TargetModel vulkan = target_of(kir::Format::spirv_vulkan);
  EXPECT_THAT(text_of(global_exchange(vulkan), vulkan),
              HasSubstr("OpControlBarrier %uint_2 %uint_2 %uint_328"));
  const TargetModel kernel = target_of(kir::Format::spirv_kernel);
  EXPECT_THAT(text_of(global_exchange(kernel), kernel),
              HasSubstr("OpControlBarrier %uint_2 %uint_2 %uint_784"));
}

TEST(SpirvText, LargeParameterBlocksAreABuffer) {
  const TargetModel target = target_of(kir::Format::spirv_vulkan);
  const Kernel small = parameters(target, 5), large = parameters(target, 6);
  EXPECT_EQ(kir::param_layout(small.params).size, 128u);
  EXPECT_TRUE(params_in_push_constants(kir::param_layout(small.params)));
  EXPECT_FALSE(params_in_push_constants(kir::param_layout(large.params)));
  EXPECT_THAT(text_of(small, target), Not(HasSubstr("_ptr_PhysicalStorageBuffer__struct")));
  EXPECT_THAT(text_of(large, target), HasSubstr("_ptr_PhysicalStorageBuffer__struct"));
}

TEST(SpirvText, WideAlignedLoadsAreVectorLoads) {
  const TargetModel target = target_of(kir::Format::spirv_vulkan);
  const ElementwiseCase c{kir::Op::FAdd, {Scalar::f32, Scalar::f32}, Scalar::f32};
  EXPECT_THAT(text_of(elementwise_kernel(target, {&c, 1}, 4), target),
              ContainsRegex("OpLoad %v4float %[0-9]+ Aligned 16"));
}

TEST(SpirvText, FloatAtomicAddWhereTheTargetHasIt) {
  TargetModel target = target_of(kir::Format::spirv_vulkan);
  const auto text = [&] {
    return text_of(global_atomic(target, kir::Rmw::fadd, Scalar::f32), target);
  };
  EXPECT_THAT(text(), HasSubstr("OpAtomicCompareExchange"));
  target.atomic_f32_add = true;
  EXPECT_THAT(text(), HasSubstr("OpAtomicFAddEXT"));
  EXPECT_EQ(validate_spirv(emit_spirv(global_atomic(target, kir::Rmw::fadd, Scalar::f32), target),
                           target.format),
            "");
}

TEST(SpirvText, SameKernelSameWords) {
  const TargetModel target = target_of(kir::Format::spirv_vulkan);
  EXPECT_EQ(emit_spirv(collatz(target), target), emit_spirv(collatz(target), target));
}

TEST(SpirvErrors, WordsThatAreNoModule) {
  const std::vector<uint32_t> words{1, 2, 3, 4, 5, 6};
  EXPECT_THROW(disassemble_spirv(words), Error);
}

}  // namespace
}  // namespace primset::emit::testing
