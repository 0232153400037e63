// Every operation in both flavours is a valid module; what validation does not see is looked for in
// the text.
#include "codegen/emit/spirv/spirv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "codegen/emit/spirv/testing/elementwise_cases.h"
#include "codegen/emit/spirv/testing/sample_kernels.h"
#include "codegen/emit/spirv/testing/vulkan_harness.h"
#include "codegen/kernel/ir/builder.h"
#include "codegen/kernel/verifier/verifier.h"
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

TEST(SpirvKernel, StatesTheSizeOfSubgroupsWhereItUsesThem) {
  TargetModel target = target_of(kir::Format::spirv_kernel);
  const auto text = [&](const Kernel& kernel) {
    return disassemble_spirv(emit_spirv(kernel, target));
  };
  const Kernel with = subgroup_exchange(target, Scalar::i64, 1),
               without = tree_sum(target, Scalar::f32, 64);
  EXPECT_THAT(text(with), HasSubstr("SubgroupSize 8"));
  EXPECT_THAT(text(with), Not(HasSubstr("v2uint"))) << "64 bits are shuffled as one number";
  EXPECT_THAT(text(without), Not(HasSubstr("SubgroupSize")));
  target.min_subgroup = 4;
  EXPECT_THAT(text(with), Not(HasSubstr("SubgroupSize 8"))) << "the device has several";
}

TEST(SpirvKernel, HasNoLogicalOperatorsOnVectorsThatIgcCrashesOn) {
  const TargetModel target = target_of(kir::Format::spirv_kernel);
  for (const kir::Op op : {kir::Op::Xor, kir::Op::INe, kir::Op::IEq, kir::Op::And}) {
    const ElementwiseCase c{op, {Scalar::i1, Scalar::i1}, Scalar::i1};
    const Kernel kernel = elementwise_kernel(target, {&c, 1}, 4);
    const std::string text = disassemble_spirv(emit_spirv(kernel, target));
    EXPECT_THAT(text, HasSubstr(op == kir::Op::And ? "OpLogicalAnd" : "OpSelect")) << name_of(c);
    EXPECT_THAT(text, Not(HasSubstr("OpLogicalEqual"))) << name_of(c);
    EXPECT_THAT(text, Not(HasSubstr("OpLogicalNot"))) << name_of(c);
  }
}

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

TEST(SpirvText, ConstantsThatAreAddedAreOpaque) {
  const TargetModel target = target_of(kir::Format::spirv_vulkan);
  for (const char* type : {"float", "double"}) {
    const Scalar s = type == std::string("float") ? Scalar::f32 : Scalar::f64;
    const std::string text = text_of(masked_copy(target, s, 1), target);  // adds 1
    EXPECT_THAT(text, HasSubstr("OpFAdd"));
    EXPECT_THAT(text, Not(ContainsRegex("OpFAdd .*%(float|double)_1"))) << text;
  }
}

TEST(SpirvText, BarrierSemantics) {
  const TargetModel vulkan = target_of(kir::Format::spirv_vulkan);
  EXPECT_THAT(text_of(tree_sum(vulkan, Scalar::i32, 64), vulkan),
              HasSubstr("OpControlBarrier %uint_2 %uint_2 %uint_264"));
  const TargetModel kernel = target_of(kir::Format::spirv_kernel);
  EXPECT_THAT(text_of(tree_sum(kernel, Scalar::i32, 64), kernel),
              HasSubstr("OpControlBarrier %uint_2 %uint_2 %uint_272"));
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

TEST(SpirvText, UpperHalvesAreTakenFromWordsAndPutIntoThem) {
  const TargetModel target = target_of(kir::Format::spirv_vulkan);
  const auto masks = [&](uint32_t align) {
    const std::string text = text_of(upper_halves(target, 8, align, 0), target);
    size_t count = 0;
    for (size_t at = 0; (at = text.find("OpBitwiseAnd %uint", at)) != std::string::npos; ++at)
      ++count;
    return count;
  };
  EXPECT_EQ(masks(16), 4u + 4u);
  EXPECT_EQ(masks(2), 0u);
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

// --- cooperative matrices: newer than what validates and names here -----------------------------

using Instruction = std::vector<uint32_t>;  // operation, then operands

std::vector<Instruction> instructions(const std::vector<uint32_t>& words) {
  std::vector<Instruction> all;
  for (size_t at = 5; at < words.size(); at += words[at] >> 16) {
    Instruction& i = all.emplace_back(words.begin() + at, words.begin() + at + (words[at] >> 16));
    i[0] &= 0xffff;
  }
  return all;
}

// a b of what lies at words 0 and 256 on, stored there from 4 on.
Kernel cooperative_product(const TargetModel& target, bool bf16, bool invariant = true) {
  kir::Builder b("product", target);
  const kir::Value x = b.pointer_param("x", true, false, invariant);
  b.set_group_size(32);
  const kir::Value memory = b.group_alloc(Scalar::i32, 512);
  const kir::Type vec4{Scalar::i32, 4};
  b.store(memory, b.mul(b.local_id(0), b.i32(16)), b.load(vec4, x, b.i32(0), 16), 16);
  b.barrier();
  const auto load = [&](kir::MatrixUse use, int64_t at, bool by_columns) {
    const kir::Type matrix = kir::Type::matrix(bf16 ? Scalar::bf16 : Scalar::f16, use);
    return b.cooperative_load(matrix, memory, b.i32(at), 3, by_columns);
  };
  const kir::Value sums =
      b.cooperative_multiply(load(kir::MatrixUse::a, 0, false), load(kir::MatrixUse::b, 64, true),
                             b.constant_bits(kir::kAccumulator, 0));
  const kir::Value factors = b.cooperative_load(kir::kAccumulator, memory, b.i32(2), 0, true);
  b.barrier();
  b.cooperative_store(memory, b.i32(1), b.cooperative_scale(sums, factors), 5);
  return std::move(b).finish();
}

TargetModel cooperative_target() {
  TargetModel target = target_of(kir::Format::spirv_vulkan);
  target.min_subgroup = target.max_subgroup = 32;
  target.cooperative = target.cooperative_bf16 = true;
  return target;
}

TEST(SpirvCooperative, WhatNobodyWritesIsReadFromABlockThatIsNotWritable) {
  const TargetModel target = cooperative_target();
  for (const bool invariant : {false, true}) {
    std::set<uint32_t> read_only;
    int reads = 0;
    for (const Instruction& i :
         instructions(emit_spirv(cooperative_product(target, true, invariant), target))) {
      // OpMemberDecorate: type, member, decoration (24: NonWritable). OpTypePointer: result,
      // storage class, pointee. OpConvertUToPtr: type, result.
      if (i[0] == 72 && i[3] == 24) read_only.insert(i[1]);
      if (i[0] == 32 && read_only.contains(i[3])) read_only.insert(i[1]);
      if (i[0] == 120) reads += read_only.contains(i[1]) ? 1 : 0;
    }
    EXPECT_EQ(read_only.size(), invariant ? 2u : 0u);
    EXPECT_EQ(reads, invariant ? 1 : 0);
  }
}

// A module's instructions by their opcode.
struct ReadModule {
  std::vector<Instruction> all;

  std::vector<Instruction> of(uint32_t op) const {
    std::vector<Instruction> found;
    for (const Instruction& i : all)
      if (i[0] == op) found.push_back(i);
    return found;
  }
  uint32_t constant(uint32_t id) const {
    for (const Instruction& i : of(43))  // OpConstant: type, result, bits
      if (i[2] == id) return i[3];
    return ~0u;
  }
};

void expect_matrix_types(const ReadModule& m, bool bf16) {
  // OpCapability: CooperativeMatrixKHR, VulkanMemoryModel, BFloat16CooperativeMatrixKHR.
  const auto has = [&](uint32_t capability) {
    return std::ranges::count(m.of(17), Instruction{17, capability}) == 1;
  };
  EXPECT_TRUE(has(6022) && has(5345));
  EXPECT_EQ(has(5118), bf16);
  ASSERT_EQ(m.of(14).size(), 1u);  // OpMemoryModel
  EXPECT_EQ(m.of(14)[0][2], 3u);   // Vulkan
  // OpTypeCooperativeMatrixKHR: result, component, scope, rows, columns, use.
  const std::vector<Instruction> types = m.of(4456);
  ASSERT_EQ(types.size(), 3u);
  std::set<uint32_t> uses;
  for (const Instruction& t : types) {
    EXPECT_EQ(m.constant(t[3]), 3u);  // Subgroup
    EXPECT_EQ(m.constant(t[4]), 16u);
    EXPECT_EQ(m.constant(t[5]), 16u);
    uses.insert(m.constant(t[6]));
  }
  EXPECT_THAT(uses, ::testing::ElementsAre(0, 1, 2));
}

void expect_matrices_in_memory(const ReadModule& m) {
  // OpCooperativeMatrixLoadKHR: type, result, pointer, layout, stride, memory operands.
  const std::vector<Instruction> loads = m.of(4457);
  ASSERT_EQ(loads.size(), 3u);
  EXPECT_EQ(m.constant(loads[2][4]), 1u);  // of a line that is every column
  EXPECT_EQ(m.constant(loads[2][5]), 0u);
  EXPECT_EQ(loads[2][1], m.of(133)[0][1]);  // OpFMul, of sums
  for (size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(loads[i].size(), 7u);
    EXPECT_EQ(m.constant(loads[i][4]), i);
    EXPECT_EQ(m.constant(loads[i][5]), 3u);  // lines of three vectors of 16 bytes
    EXPECT_EQ(loads[i][6], 0x20u);           // NonPrivatePointer
  }
  ASSERT_EQ(m.of(4459).size(), 1u);  // OpCooperativeMatrixMulAddKHR
  // OpCooperativeMatrixStoreKHR: pointer, object, layout, stride, memory operands.
  const std::vector<Instruction> stores = m.of(4458);
  ASSERT_EQ(stores.size(), 1u);
  EXPECT_EQ(m.constant(stores[0][3]), 0u);
  EXPECT_EQ(m.constant(stores[0][4]), 5u);
  // Everybody sees what is stored 16 bytes at a time: OpStore's operands.
  ASSERT_EQ(m.of(62).size(), 1u);
  EXPECT_EQ(m.of(62)[0].back(), 0x20u);
}

TEST(SpirvCooperative, MatricesComeFromVectorsOfWords) {
  const TargetModel target = cooperative_target();
  for (const bool bf16 : {false, true}) {
    const Kernel kernel = cooperative_product(target, bf16);
    kir::verify_or_throw(kernel, target);
    const std::vector<uint32_t> words = emit_spirv(kernel, target);
    const ReadModule m{instructions(words)};
    expect_matrix_types(m, bf16);
    expect_matrices_in_memory(m);
    EXPECT_THAT(disassemble_spirv(words), ::testing::Not(::testing::IsEmpty()));
  }
}

// Sums of products of what lies at word 0 on, from zero on.
Kernel loop_of_products(const TargetModel& target) {
  kir::Builder b("products", target);
  b.set_group_size(32);
  const kir::Value memory = b.group_alloc(Scalar::i32, 512), zero = b.i32(0);
  const auto load = [&](kir::MatrixUse use) {
    return b.cooperative_load(kir::Type::matrix(Scalar::f16, use), memory, zero, 3, false);
  };
  const kir::Value sums =
      b.for_loop(zero, b.i32(4), b.i32(1), {b.constant_bits(kir::kAccumulator, 0)},
                 [&](kir::Value, std::span<const kir::Value> carried) {
                   return kir::Builder::Values{b.cooperative_multiply(
                       load(kir::MatrixUse::a), load(kir::MatrixUse::b), carried[0])};
                 })[0];
  b.cooperative_store(memory, zero, sums, 5);
  return std::move(b).finish();
}

// What no validator looks at here: a value that comes from two blocks has one type.
TEST(SpirvCooperative, LoopsCarryMatrices) {
  const TargetModel target = cooperative_target();
  const Kernel kernel = loop_of_products(target);
  kir::verify_or_throw(kernel, target);
  const ReadModule m{instructions(emit_spirv(kernel, target))};
  std::map<uint32_t, uint32_t> types;  // of values; instructions with a value begin with both
  for (const Instruction& i : m.all)
    if (i.size() > 2) types[i[2]] = i[1];
  int matrices = 0;
  for (const Instruction& phi : m.of(245)) {  // OpPhi: type, result, pairs of value and block
    for (size_t pair = 3; pair < phi.size(); pair += 2)
      EXPECT_EQ(types[phi[pair]], phi[1]) << "value " << phi[pair] << " in phi " << phi[2];
    matrices += std::ranges::count(m.of(4456), phi[1], [](const Instruction& t) { return t[1]; });
  }
  EXPECT_EQ(matrices, 1);
}

TEST(SpirvErrors, WordsThatAreNoModule) {
  const std::vector<uint32_t> words{1, 2, 3, 4, 5, 6};
  EXPECT_THROW(disassemble_spirv(words), Error);
}

}  // namespace
}  // namespace primset::emit::testing
