// The table of docs/vendor_guide.md that says what a consumer of our SPIR-V has to take, against
// what modules state: of every operation, for targets with all features and with few.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "codegen/emit/spirv/module.h"
#include "codegen/emit/spirv/spirv.h"
#include "codegen/emit/spirv/testing/elementwise_cases.h"
#include "codegen/emit/spirv/testing/sample_kernels.h"
#include "codegen/kernel/ir/builder.h"

namespace primset::emit::testing {
namespace {

using Names = std::map<uint32_t, std::string>;

template <typename T>
uint32_t number(T value) {
  return static_cast<uint32_t>(value);
}

const Names& capability_names() {
#define NAMED(name)                      \
  {                                      \
    number(spv::Capability::name), #name \
  }
  static const Names names = {
      NAMED(Addresses),
      NAMED(AtomicFloat32AddEXT),
      NAMED(DenormPreserve),
      NAMED(Float16),
      NAMED(Float64),
      NAMED(GroupNonUniform),
      NAMED(GroupNonUniformBallot),
      NAMED(GroupNonUniformShuffle),
      NAMED(Int16),
      NAMED(Int64),
      NAMED(Int64Atomics),
      NAMED(Int8),
      NAMED(Kernel),
      NAMED(PhysicalStorageBufferAddresses),
      NAMED(RoundingModeRTE),
      NAMED(Shader),
      NAMED(SignedZeroInfNanPreserve),
      NAMED(StorageBuffer16BitAccess),
      NAMED(StorageBuffer8BitAccess),
      NAMED(SubgroupDispatch),
      NAMED(VulkanMemoryModel),
      NAMED(VulkanMemoryModelDeviceScope),
      {number(spirv::khr::kBFloat16Type), "BFloat16TypeKHR"},
      {number(spirv::khr::kBFloat16CooperativeMatrix), "BFloat16CooperativeMatrixKHR"},
      {number(spirv::khr::kCooperativeMatrix), "CooperativeMatrixKHR"},
  };
#undef NAMED
  return names;
}

const Names& mode_names() {
#define NAMED(name)                         \
  {                                         \
    number(spv::ExecutionMode::name), #name \
  }
  static const Names names = {
      NAMED(ContractionOff),  NAMED(DenormPreserve),           NAMED(LocalSize),
      NAMED(RoundingModeRTE), NAMED(SignedZeroInfNanPreserve), NAMED(SubgroupSize),
  };
#undef NAMED
  return names;
}

const Names kAddressing = {
    {number(spv::AddressingModel::Physical64), "Physical64"},
    {number(spv::AddressingModel::PhysicalStorageBuffer64), "PhysicalStorageBuffer64"}};
const Names kMemory = {{number(spv::MemoryModel::GLSL450), "GLSL450"},
                       {number(spv::MemoryModel::OpenCL), "OpenCL"},
                       {number(spv::MemoryModel::Vulkan), "Vulkan"}};
const Names kExecution = {{number(spv::ExecutionModel::GLCompute), "GLCompute"},
                          {number(spv::ExecutionModel::Kernel), "Kernel"}};

// A number that has no name here is one: the table cannot have it, and the test says so.
std::string name_in(const Names& names, uint32_t value) {
  const auto found = names.find(value);
  return found == names.end() ? std::to_string(value) : found->second;
}

std::string text_at(std::span<const uint32_t> words) {
  return reinterpret_cast<const char*>(words.data());
}

// What one instruction asks of the consumer; empty where it asks nothing by itself.
std::string statement(std::span<const uint32_t> i) {
  switch (static_cast<spv::Op>(i[0] & 0xffff)) {
    case spv::Op::OpCapability:
      return "OpCapability " + name_in(capability_names(), i[1]);
    case spv::Op::OpExtension:
      return "OpExtension " + text_at(i.subspan(1));
    case spv::Op::OpExtInstImport:
      return "OpExtInstImport " + text_at(i.subspan(2));
    case spv::Op::OpMemoryModel:
      return "OpMemoryModel " + name_in(kAddressing, i[1]) + " " + name_in(kMemory, i[2]);
    case spv::Op::OpEntryPoint:
      return "OpEntryPoint " + name_in(kExecution, i[1]);
    case spv::Op::OpExecutionMode:
      return "OpExecutionMode " + name_in(mode_names(), i[2]);
    default:
      return {};
  }
}

std::set<std::string> statements(const std::vector<uint32_t>& words) {
  const uint32_t version = words[1];
  std::set<std::string> all = {"version " + std::to_string(version >> 16 & 0xff) + "." +
                               std::to_string(version >> 8 & 0xff)};
  for (size_t at = 5; at < words.size(); at += words[at] >> 16) {
    const std::string one = statement(std::span(words).subspan(at, words[at] >> 16));
    if (!one.empty()) all.insert(one);
  }
  return all;
}

// What all modules state, "always", or some of them, "as used".
class Stated {
 public:
  void add(const Kernel& kernel, const TargetModel& target) {
    ++modules_;
    for (const std::string& one : statements(emit_spirv(kernel, target))) ++times_[one];
  }
  std::map<std::string, std::string> said() const {
    std::map<std::string, std::string> all;
    for (const auto& [one, times] : times_) all[one] = times == modules_ ? "always" : "as used";
    return all;
  }

 private:
  size_t modules_ = 0;
  std::map<std::string, size_t> times_;
};

void add_operations(Stated& stated, const TargetModel& target) {
  for (const Sample& s : all_samples(target)) stated.add(s.kernel, target);
  for (const auto& cases :
       {int_binary_cases(), float_cases(), fma_cases(), fast_float_cases(), compare_cases(),
        select_cases(), int_conversion_cases(), float_conversion_cases()})
    for (const ElementwiseCase& c : cases)
      stated.add(elementwise_kernel(target, {&c, 1}, 4), target);
  kir::Builder nothing("nothing", target);
  stated.add(std::move(nothing).finish(), target);
}

// A product of matrices, and how often it was made.
Kernel counted_product(const TargetModel& target, Scalar element) {
  kir::Builder b("product", target);
  const kir::Value count = b.pointer_param("count", true, true);
  b.set_group_size(32);
  const kir::Value memory = b.group_alloc(Scalar::i32, 512);
  const auto load = [&](kir::MatrixUse use) {
    return b.cooperative_load(kir::Type::matrix(element, use), memory, b.i32(0), 3, false);
  };
  const kir::Value sums = b.cooperative_multiply(load(kir::MatrixUse::a), load(kir::MatrixUse::b),
                                                 b.constant_bits(kir::kAccumulator, 0));
  b.cooperative_store(memory, b.i32(1), sums, 5);
  b.atomic_rmw(kir::Rmw::add, count, b.i32(0), b.i32(1), 4);
  return std::move(b).finish();
}

std::map<std::string, std::string> stated_by(kir::Format format) {
  TargetModel target;
  target.format = format;
  target.simt = target.f16 = target.subgroup_ballot = target.fast_exp2 = true;
  target.atomic_f32_add = true;
  target.min_subgroup = target.max_subgroup = 32;
  target.float_controls_nan = target.float_controls_rte = target.float_controls_denorm =
      16 | 32 | 64;
  Stated stated;
  add_operations(stated, target);
  if (format == kir::Format::spirv_vulkan) {
    target.cooperative = target.cooperative_bf16 = true;
    for (const Scalar element : {Scalar::f16, Scalar::bf16})
      stated.add(counted_product(target, element), target);
  }
  return stated.said();
}

std::string file_text(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  EXPECT_FALSE(text.str().empty()) << path;
  return text.str();
}

// The rows | `OpCapability Int8` | as used | always | ... |: their second or third column, without
// those that say "never".
std::map<std::string, std::string> table(size_t column) {
  const std::string guide =
      file_text(std::filesystem::path(PRIMSET_SOURCE_DIR) / "docs/vendor_guide.md");
  const std::regex row(R"(\| `((?:version|Op\w+) [^`]*)` \| ([a-z ]+) \| ([a-z ]+) \|)");
  std::map<std::string, std::string> all;
  for (std::sregex_iterator i(guide.begin(), guide.end(), row), end; i != end; ++i)
    if ((*i)[column] != "never") all[(*i)[1]] = (*i)[column];
  return all;
}

TEST(ConsumerTable, SaysWhatModulesForVulkanState) {
  EXPECT_EQ(table(2), stated_by(kir::Format::spirv_vulkan));
}

TEST(ConsumerTable, SaysWhatModulesForOpenClState) {
  EXPECT_EQ(table(3), stated_by(kir::Format::spirv_kernel));
}

// A capability that no kernel above leads to would be missed: the emitter's own text names it.
TEST(ConsumerTable, HasEveryCapabilityThatTheEmitterNames) {
  std::string rows;
  for (const size_t column : {2, 3})
    for (const auto& [one, when] : table(column)) rows += one + "\n";
  const std::regex named(R"(spv::Capability::(\w+))");
  const std::filesystem::path folder =
      std::filesystem::path(PRIMSET_SOURCE_DIR) / "codegen/emit/spirv";
  size_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".cpp" || name.ends_with("_test.cpp")) continue;
    const std::string text = file_text(entry.path());
    for (std::sregex_iterator i(text.begin(), text.end(), named), end; i != end; ++i, ++found)
      EXPECT_NE(rows.find("OpCapability " + (*i)[1].str() + "\n"), std::string::npos)
          << name << " states " << (*i)[1];
  }
  EXPECT_GT(found, 20u);
}

}  // namespace
}  // namespace primset::emit::testing
