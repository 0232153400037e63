// Control flow, workgroups, subgroups, parameters and lane moves on a Vulkan device.
#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "codegen/emit/spirv/testing/sample_kernels.h"
#include "codegen/emit/spirv/testing/vulkan_harness.h"

namespace primset::emit::testing {
namespace {

using Buffer = VulkanHarness::Buffer;

constexpr uint32_t kGroups = 5;
constexpr uint32_t kCount = kGroups * kSampleThreads;

class VulkanControl : public ::testing::Test {
 protected:
  void SetUp() override {
    vulkan_ = VulkanHarness::get();
    if (vulkan_ == nullptr) GTEST_SKIP() << "no Vulkan device";
  }
  void TearDown() override {
    if (vulkan_ != nullptr) {
      vulkan_->free_buffers();
      vulkan_->skip_verifier(false);
    }
  }
  const TargetModel& target() const { return vulkan_->target(); }
  template <typename T>
  VulkanHarness::Buffer upload(const std::vector<T>& data) {
    return vulkan_->buffer_of(std::span<const T>(data));
  }
  template <typename T>
  std::vector<T> random_values(size_t n, uint64_t below) {
    std::vector<T> v(n);
    for (T& x : v) x = static_cast<T>(random_() % below);
    return v;
  }

  VulkanHarness* vulkan_ = nullptr;
  std::mt19937_64 random_{11};
};

TEST_F(VulkanControl, WhileWithIf) {
  std::vector<int64_t> in(kCount);
  for (uint32_t i = 0; i < kCount; ++i) in[i] = i * 77 + 1;
  const Buffer steps = upload(std::vector<int32_t>(kCount)),
               high = upload(std::vector<int64_t>(kCount));
  vulkan_->launch(collatz(target()), {upload(in).address, steps.address, high.address},
                  {kGroups, 1, 1});
  for (uint32_t i = 0; i < kCount; ++i) {
    int64_t x = in[i], top = x;
    int32_t n = 0;
    for (; x > 1; ++n) {
      x = x % 2 == 1 ? 3 * x + 1 : x / 2;
      top = std::max(top, x);
    }
    ASSERT_EQ(steps.as<int32_t>()[i], n) << in[i];
    ASSERT_EQ(high.as<int64_t>()[i], top) << in[i];
  }
}

TEST_F(VulkanControl, NestedLoopsCarryVectors) {
  std::vector<float> in(16);
  for (size_t l = 0; l < 16; ++l) in[l] = static_cast<float>(l) * 0.37f - 2;
  const auto n = random_values<int64_t>(kCount, 12);
  const Buffer count = upload(n), out = upload(std::vector<float>(kCount * 16));
  vulkan_->launch(nested_loops(target()), {upload(in).address, count.address, out.address},
                  {kGroups, 1, 1});
  for (uint32_t i = 0; i < kCount; ++i) {
    float sum[16] = {};
    int64_t pairs = 0;
    for (int64_t j = 0; j < n[i]; ++j) {
      for (int64_t k = 0; k < j; ++k, ++pairs) {
        for (size_t l = 0; l < 16; ++l) sum[l] += in[l] * static_cast<float>(j + k);
      }
    }
    ASSERT_EQ(count.as<int64_t>()[i], pairs);
    for (size_t l = 0; l < 16; ++l) ASSERT_EQ(out.as<float>()[i * 16 + l], sum[l]);
  }
}

TEST_F(VulkanControl, NestedIfs) {
  const auto in = random_values<int32_t>(kCount, 1000);
  const Buffer out = upload(std::vector<int32_t>(kCount));
  vulkan_->launch(nested_ifs(target()), {upload(in).address, out.address}, {kGroups, 1, 1});
  for (uint32_t i = 0; i < kCount; ++i) {
    const int32_t x = in[i];
    const bool bit0 = (x & 1) != 0, bit1 = (x & 2) != 0;
    const int32_t odd = bit1 ? 10 : 30, even = bit1 ? 20 : 40;
    const int32_t expected =
        bit0 ? odd + 1000 * odd + (bit1 ? 1 : 0) : x * even + 1000 * even + (bit0 ? 1 : 0);
    ASSERT_EQ(out.as<int32_t>()[i], expected) << x;
  }
}

TEST_F(VulkanControl, EffectsInRegions) {
  const auto in = random_values<int32_t>(kCount, 9);
  const Buffer out = upload(std::vector<int32_t>(kCount));
  vulkan_->launch(effects_in_regions(target()), {upload(in).address, out.address}, {kGroups, 1, 1});
  for (uint32_t i = 0; i < kCount; ++i) {
    const int32_t x = in[i];
    // The odd x stop where their masked load gives 0: after x steps.
    const int32_t steps = x % 2 == 1 ? x : 5;
    const int32_t expected = 100 * std::min(steps, 3) + (steps > 4 ? x : 0);
    ASSERT_EQ(out.as<int32_t>()[i], expected) << x;
  }
}

// Long loops: llvmpipe ends all loops of a thread after 65535 iterations together.
TEST_F(VulkanControl, LongLoops) {
  const auto mixed = [](std::span<const int32_t> in, int32_t n) {
    uint32_t sum = 0;
    for (int32_t k = 0; k < n; ++k) sum = (sum * 1664525u) ^ static_cast<uint32_t>(in[k & 1]);
    return sum;
  };
  for (bool is_while : {false, true}) {
    std::vector<int32_t> in(kSampleThreads, 3);
    in[1] = 1000;
    in[2] = -5;
    in[4] = std::numeric_limits<int32_t>::min() + 7;
    in[5] = 65534;
    if (!is_while || target().loop_limit == 0) {
      in[6] = 65536;
      in[9] = 200001;
      in[40] = 1000000;
    }
    for (int32_t n = 0; n < 20; ++n) in[static_cast<size_t>(20 + n)] = n;
    const Buffer out = upload(std::vector<uint32_t>(kSampleThreads));
    vulkan_->launch(long_loop(target(), is_while), {upload(in).address, out.address});
    for (uint32_t i = 0; i < kSampleThreads; ++i) {
      EXPECT_EQ(out.as<uint32_t>()[i], mixed(in, in[i])) << in[i] << (is_while ? " while" : " for");
    }
  }
}

// --- the workgroup -------------------------------------------------------------------------------

TEST_F(VulkanControl, TreeSumInWorkgroupMemory) {
  const auto run = [&]<typename T>(Scalar s) {
    for (uint32_t threads : {64u, 256u}) {
      const auto in = random_values<T>(kGroups * threads, 100000);
      const Buffer out = upload(std::vector<T>(kGroups));
      vulkan_->launch(tree_sum(target(), s, threads), {upload(in).address, out.address},
                      {kGroups, 1, 1});
      for (uint32_t g = 0; g < kGroups; ++g) {
        std::vector<T> tree(in.begin() + g * threads, in.begin() + (g + 1) * threads);
        for (uint32_t half = threads / 2; half > 0; half /= 2) {
          for (uint32_t t = 0; t < half; ++t) tree[t] = static_cast<T>(tree[t] + tree[t + half]);
        }
        EXPECT_EQ(out.as<T>()[g], tree[0]) << kir::name(s) << " by " << threads;
      }
    }
  };
  run.operator()<uint8_t>(Scalar::i8);
  run.operator()<uint16_t>(Scalar::i16);
  run.operator()<uint32_t>(Scalar::i32);
  run.operator()<uint64_t>(Scalar::i64);
  run.operator()<float>(Scalar::f32);
  run.operator()<double>(Scalar::f64);
}

TEST_F(VulkanControl, SubgroupShuffle) {
  const uint32_t width = target().max_subgroup;
  const auto run = [&]<typename T>(Scalar s) {
    vulkan_->skip_verifier(sizeof(T) < 4);
    for (uint32_t mask = 1; mask < width && mask < 32; mask *= 2) {
      const auto in = random_values<T>(kCount, s == Scalar::i1 ? 2 : uint64_t{1} << 52);
      const Buffer out = upload(std::vector<T>(kCount)),
                   size = upload(std::vector<uint32_t>(kCount)),
                   lane = upload(std::vector<uint32_t>(kCount));
      vulkan_->launch(subgroup_exchange(target(), s, mask),
                      {upload(in).address, out.address, size.address, lane.address},
                      {kGroups, 1, 1});
      for (uint32_t i = 0; i < kCount; ++i) {
        ASSERT_EQ(size.as<uint32_t>()[i], width);
        ASSERT_EQ(lane.as<uint32_t>()[i], i % width);
        ASSERT_EQ(out.as<T>()[i], in[i ^ mask]) << kir::name(s) << " ^ " << mask;
      }
    }
  };
  run.operator()<uint32_t>(Scalar::i32);
  run.operator()<uint64_t>(Scalar::i64);
  run.operator()<float>(Scalar::f32);
  run.operator()<double>(Scalar::f64);
  run.operator()<uint8_t>(Scalar::i1);
  run.operator()<uint8_t>(Scalar::i8);
  run.operator()<uint16_t>(Scalar::i16);
}

TEST_F(VulkanControl, SubgroupVotes) {
  if (!target().subgroup_ballot) GTEST_SKIP() << "the device has no ballots";
  const uint32_t width = target().max_subgroup;
  const auto in = random_values<uint32_t>(kCount, 1u << 30);
  const Buffer odd = upload(std::vector<uint32_t>(kCount)),
               next = upload(std::vector<uint32_t>(kCount));
  vulkan_->launch(subgroup_votes(target()), {upload(in).address, odd.address, next.address},
                  {kGroups, 1, 1});
  uint32_t before = 0;
  for (uint32_t i = 0; i < kCount; ++i) {
    const uint32_t first = i / width * width;
    if (i == first) before = 0;
    ASSERT_EQ(odd.as<uint32_t>()[i], before) << i;
    ASSERT_EQ(next.as<uint32_t>()[i], in[first + (i + 1 - first) % width]) << i;
    before += in[i] & 1;
  }
}

// --- vectors and parameters ----------------------------------------------------------------------

TEST_F(VulkanControl, VectorMoves) {
  for (uint16_t lanes : {2, 4, 8, 16}) {
    auto in = random_values<int32_t>(size_t{kCount} * lanes, 4);
    for (size_t l = 0; l < lanes; ++l) {  // all odd, none odd
      in[l] |= 1;
      in[lanes + l] &= ~1;
    }
    const Buffer out = upload(std::vector<int32_t>(in.size()));
    vulkan_->launch(vector_moves(target(), lanes), {upload(in).address, out.address},
                    {kGroups, 1, 1});
    for (uint32_t i = 0; i < kCount; ++i) {
      const int32_t* x = &in[size_t{i} * lanes];
      std::vector<int32_t> replaced(lanes), wide(2u * lanes);
      bool any = false, all = true;
      for (int l = 0; l < lanes; ++l) {
        replaced[l] = l % 2 == 0 ? x[lanes - 1 - l / 2] : l / 2;
        any |= (x[l] & 1) != 0;
        all &= (x[l] & 1) != 0;
      }
      replaced[lanes / 2] = static_cast<int32_t>(i);
      for (int l = 0; l < lanes; ++l) {
        wide[l] = replaced[l];
        wide[lanes + l] = l;
      }
      for (int l = 0; l < lanes; ++l) {
        const bool shown = l < static_cast<int>(i % (lanes + 2u)) - 1;
        const int32_t expected = (shown ? wide[2 * l] * 8 : 0) + (any ? 1 : 0) + (all ? 2 : 0) +
                                 replaced[lanes - 1] * 1000;
        ASSERT_EQ(out.as<int32_t>()[i * lanes + static_cast<uint32_t>(l)], expected)
            << lanes << " lanes, " << i << ", " << l;
      }
    }
  }
}

TEST_F(VulkanControl, ParametersInPushConstantsAndInABuffer) {
  for (uint32_t n : {1u, 5u, 6u, 40u}) {
    const Buffer out = upload(std::vector<uint64_t>(4 * n));
    std::vector<uint64_t> args{out.address};
    for (uint32_t k = 0; k < 4 * n; ++k) {
      const uint64_t v = random_();
      // i32, f32, i64, f64; no NaN, whose bits a register may change.
      args.push_back(k % 4 < 2 ? v & 0x7f7fffff : v & 0x7fefffffffffffff);
    }
    vulkan_->launch(parameters(target(), n), args);
    for (uint32_t k = 0; k < 4 * n; ++k) {
      EXPECT_EQ(out.as<uint64_t>()[k], args[k + 1]) << k << " of " << n;
    }
  }
}

TEST_F(VulkanControl, Ids) {
  constexpr std::array<uint32_t, 3> kGrid = {3, 2, 4};
  constexpr size_t kThreads = 24 * 16;
  const Buffer out = upload(std::vector<uint32_t>(kThreads * 9));
  vulkan_->launch(ids(target()), {out.address}, kGrid);
  for (uint32_t t = 0; t < kThreads; ++t) {
    const uint32_t group = t / 16, local = t % 16;
    const std::array<uint32_t, 9> expected = {group % 3, group / 3 % 2, group / 6,     3,        2,
                                              4,         local % 4,     local / 4 % 2, local / 8};
    for (size_t d = 0; d < 9; ++d) ASSERT_EQ(out.as<uint32_t>()[t * 9 + d], expected[d]) << t;
  }
}

}  // namespace
}  // namespace primset::emit::testing
