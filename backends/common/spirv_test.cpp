// What back ends have alike whose devices take SPIR-V, for devices that this machine need not have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "backends/common/compiled_cache.h"
#include "backends/common/spirv_claims.h"
#include "backends/common/spirv_module.h"
#include "backends/common/status.h"

struct primset_buffer_t {
  uint64_t address;
  uint64_t device_address() const { return address; }
};

namespace primset_backend {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

SpirvKernelDevice gpu() {
  SpirvKernelDevice d;
  d.name = "a GPU";
  d.f64 = d.f16 = d.keeps_f32_denormals = d.fused_fma = d.ballot_and_shuffle = true;
  d.subgroup_sizes = {8, 16, 32};
  d.compute_units = 96;
  d.max_group_threads = 1024;
  d.group_memory = 128 << 10;
  d.max_param_bytes = 2047;
  return d;
}

primset_device_properties claimed(const SpirvKernelDevice& d) {
  primset_device_properties p{};
  claim(d, p);
  return p;
}

TEST(SpirvClaims, OfADeviceWithEverything) {
  const primset_device_properties p = claimed(gpu());
  EXPECT_EQ(p.kernel_format, uint32_t{PRIMSET_FORMAT_SPIRV_KERNEL});
  EXPECT_TRUE(p.features & PRIMSET_FEATURE_F64);
  EXPECT_TRUE(p.features & PRIMSET_FEATURE_BALLOT);
  EXPECT_TRUE(p.dtypes & 1u << PRIMSET_C128);
  EXPECT_TRUE(p.numerics & PRIMSET_NUMERIC_EXACT_DIV_F64);
  EXPECT_FALSE(p.numerics & PRIMSET_NUMERIC_FLUSH_F32);
  EXPECT_FALSE(p.numerics & PRIMSET_NUMERIC_FAST_EXP2);
  EXPECT_EQ(p.max_param_bytes, 2040u);
  EXPECT_EQ(p.group_memory, 64u << 10);
  EXPECT_EQ(p.group_threads, 256u);
}

TEST(SpirvClaims, WithoutF64ThereAreNoTensorsOfIt) {
  SpirvKernelDevice d = gpu();
  d.f64 = d.keeps_f32_denormals = false;
  const primset_device_properties p = claimed(d);
  EXPECT_FALSE(p.features & PRIMSET_FEATURE_F64);
  EXPECT_FALSE(p.dtypes & (1u << PRIMSET_F64 | 1u << PRIMSET_C128));
  EXPECT_FALSE(p.numerics & PRIMSET_NUMERIC_EXACT_DIV_F64);
  EXPECT_TRUE(p.numerics & PRIMSET_NUMERIC_FLUSH_F32);
}

TEST(SpirvClaims, HalvesAreThereWithoutInstructionsForThem) {
  SpirvKernelDevice d = gpu();
  d.f16 = false;
  const primset_device_properties p = claimed(d);
  EXPECT_FALSE(p.features & PRIMSET_FEATURE_F16);
  EXPECT_TRUE(p.dtypes & 1u << PRIMSET_F16);
}

TEST(SpirvClaims, OneSizeOfSubgroupsIsChosen) {
  const auto of = [](std::vector<uint32_t> sizes) {
    SpirvKernelDevice d = gpu();
    d.subgroup_sizes = std::move(sizes);
    return subgroup_size(d);
  };
  EXPECT_EQ(of({8, 16, 32}), 16u);
  EXPECT_EQ(of({32, 16}), 16u);
  EXPECT_EQ(of({32, 64}), 32u);
  EXPECT_EQ(of({4, 8}), 8u);
  EXPECT_EQ(of({8, 12}), 8u) << "our kernels count with powers of two";
  EXPECT_EQ(of({}), 1u) << "nobody says which";
  SpirvKernelDevice d = gpu();
  d.ballot_and_shuffle = false;
  EXPECT_EQ(subgroup_size(d), 1u);
  EXPECT_FALSE(claimed(d).features & PRIMSET_FEATURE_BALLOT);
}

primset_module_desc module(uint32_t pointers, const std::vector<uint32_t>& sizes,
                           uint32_t param_bytes) {
  primset_module_desc desc{};
  desc.pointer_count = pointers;
  desc.param_bytes = param_bytes;
  desc.scalar_count = static_cast<uint32_t>(sizes.size());
  desc.scalar_sizes = sizes.data();
  return desc;
}

TEST(KernelArguments, ArePointersThenScalarsWhereTheyLieInTheBlock) {
  const std::vector<uint32_t> sizes = {4, 8, 4, 4};
  const KernelArguments arguments(module(2, sizes, 40));
  primset_buffer_t buffer{0x1000};
  const primset_binding bindings[] = {{&buffer, 16, 4, 1, 0}, {nullptr, 0, 0, 1, 0}};
  alignas(8) const uint32_t block[6] = {1, 0, 2, 3, 4, 5};
  primset_launch launch{};
  launch.bindings = bindings;
  launch.scalars = block;
  std::vector<uint64_t> addresses, scalars;
  arguments.set(
      launch,
      [&](uint32_t index, uint64_t address) {
        EXPECT_EQ(index, addresses.size());
        addresses.push_back(address);
      },
      [&](uint32_t index, uint32_t bytes, const char* value) {
        EXPECT_EQ(index, 2 + scalars.size());
        uint64_t number = 0;
        std::memcpy(&number, value, bytes);
        scalars.push_back(number);
      });
  EXPECT_THAT(addresses, ElementsAre(0x1010, 0));
  EXPECT_THAT(scalars, ElementsAre(1, uint64_t{3} << 32 | 2, 4, 5));
}

TEST(KernelArguments, RefuseABlockThatDoesNotHoldThem) {
  const std::vector<uint32_t> fits = {8, 4}, odd = {3};
  EXPECT_THROW(KernelArguments(module(1, fits, 16)), BackendError);
  EXPECT_THROW(KernelArguments(module(1, odd, 16)), BackendError);
  EXPECT_NO_THROW(KernelArguments(module(1, fits, 24)));
}

TEST(BuildLog, IsShortAndOneText) {
  EXPECT_EQ(build_log_text(std::string("error: x\n\0\0", 11)), "error: x");
  EXPECT_EQ(build_log_text(" \n"), "the compiler says nothing more");
  EXPECT_LT(build_log_text(std::string(1 << 20, 'x')).size(), 5000u);
}

// A host that keeps one entry.
struct OneEntry {
  primset_host host{};
  std::string key, data;

  OneEntry() {
    host.struct_size = sizeof(host);
    host.cache_folder = "/";  // none: what it finds is from packs, and it keeps nothing
    host.cache_find = [](const primset_host* h, const void* key, uint64_t bytes,
                         primset_cache_found found, void* context) -> uint32_t {
      const auto* self = reinterpret_cast<const OneEntry*>(h);
      if (self->key.empty() || self->key != std::string_view(static_cast<const char*>(key), bytes))
        return 0;
      found(context, self->data.data(), self->data.size());
      return 1;
    };
    host.cache_store = [](const primset_host* h, const void* key, uint64_t key_bytes,
                          const void* data, uint64_t bytes) {
      auto* self = reinterpret_cast<OneEntry*>(const_cast<primset_host*>(h));
      self->key.assign(static_cast<const char*>(key), key_bytes);
      self->data.assign(static_cast<const char*>(data), bytes);
    };
  }
};

struct Program {
  std::string text;
  explicit operator bool() const { return !text.empty(); }
};

TEST(Compiled, IsStoredAndCompiledAnewWhereTheDriverRefusesTheBinary) {
  OneEntry store;
  int times = 0;
  bool refuses = false;
  const auto program = [&](const char* driver) {
    return compiled(
               CompiledCache(&store.host, driver), "text",
               [&](const std::vector<char>& binary) {
                 return refuses ? Program{} : Program{{binary.begin(), binary.end()}};
               },
               [&] { return Program{std::to_string(++times)}; },
               [](const Program& made) { return made.text; })
        .text;
  };
  EXPECT_EQ(program("driver 1"), "1");
  EXPECT_EQ(program("driver 1"), "1");
  EXPECT_EQ(program("driver 2"), "2") << "another driver's binary";
  EXPECT_EQ(program("driver 2"), "2");
  refuses = true;
  EXPECT_EQ(program("driver 2"), "3");
  refuses = false;
  EXPECT_EQ(program("driver 2"), "3");

  store.host.cache_folder = nullptr;
  EXPECT_EQ(program("driver 2"), "3") << "it may still find";
  EXPECT_EQ(program("driver 3"), "4");
  EXPECT_EQ(program("driver 3"), "5") << "nothing is kept";
}

}  // namespace
}  // namespace primset_backend
