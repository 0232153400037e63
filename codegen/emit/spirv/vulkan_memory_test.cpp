// Masked, indexed, private and atomic memory accesses on a Vulkan device.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <set>

#include "codegen/emit/spirv/testing/sample_kernels.h"
#include "codegen/emit/spirv/testing/vulkan_harness.h"

namespace primset::emit::testing {
namespace {

using kir::Rmw;

using Buffer = VulkanHarness::Buffer;

constexpr uint32_t kGroupCount = 6;
constexpr uint32_t kThreads = kGroupCount * kSampleThreads;

class VulkanMemory : public ::testing::Test {
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

  VulkanHarness* vulkan_ = nullptr;
  std::mt19937 random_{7};
};

// Calls f.template operator()<T>(scalar) for each type that memory holds.
template <typename F>
void each_type(const F& f) {
  f.template operator()<uint8_t>(Scalar::i8);
  f.template operator()<uint16_t>(Scalar::i16);
  f.template operator()<uint32_t>(Scalar::i32);
  f.template operator()<uint64_t>(Scalar::i64);
  f.template operator()<float>(Scalar::f32);
  f.template operator()<double>(Scalar::f64);
}

template <typename T>
std::vector<T> iota(size_t n, int scale) {
  std::vector<T> v(n);
  for (size_t i = 0; i < n; ++i) v[i] = static_cast<T>(static_cast<int>(i) * scale + 1);
  return v;
}

TEST_F(VulkanMemory, MaskedLanesTouchNothing) {
  each_type([&]<typename T>(Scalar s) {
    for (uint16_t lanes : {1, 2, 4, 16}) {
      const size_t n = size_t{kThreads} * lanes;
      const auto in = iota<T>(n, 3);
      std::vector<uint8_t> mask(n);
      for (uint8_t& m : mask) m = static_cast<uint8_t>(random_() & 1);
      const Buffer out = upload(std::vector<T>(n, T{9}));
      vulkan_->launch(masked_copy(target(), s, lanes),
                      {upload(in).address, upload(mask).address, out.address}, {kGroupCount, 1, 1});
      for (size_t i = 0; i < n; ++i) {
        const T expected = mask[i] != 0 ? static_cast<T>(in[i] + T{1}) : T{9};
        ASSERT_EQ(out.as<T>()[i], expected) << kir::name(s) << " x " << lanes << " at " << i;
      }
      vulkan_->free_buffers();
    }
  });
}

// Only what lies behind the buffer's end would be read: a null pointer faults on lavapipe.
TEST_F(VulkanMemory, MaskedAccessThroughNullTouchesNothing) {
  for (uint16_t lanes : {1, 4}) {
    const size_t n = size_t{kSampleThreads} * lanes;
    const Buffer mask = upload(std::vector<uint8_t>(n, 0));
    vulkan_->launch(masked_copy(target(), Scalar::f32, lanes), {0, mask.address, 0});
    const Buffer index = upload(std::vector<uint64_t>(n, 0));
    vulkan_->launch(gather_scatter(target(), Scalar::i64, lanes, true),
                    {0, index.address, index.address, mask.address, 0});
  }
}

TEST_F(VulkanMemory, GatherAndScatter) {
  each_type([&]<typename T>(Scalar s) {
    for (uint16_t lanes : {1, 2, 4, 16}) {
      const size_t n = size_t{kThreads} * lanes;
      const auto in = iota<T>(n, 5);
      std::vector<int64_t> from(n), to(n);
      std::vector<uint8_t> mask(n);
      for (size_t i = 0; i < n; ++i) {
        from[i] = static_cast<int64_t>(random_() % n);
        to[i] = static_cast<int64_t>(n - 1 - i);
        mask[i] = static_cast<uint8_t>(random_() & 3);
      }
      for (bool wide : {false, true}) {
        const auto index = [&](const std::vector<int64_t>& v) {
          return wide ? upload(v).address
                      : upload(std::vector<int32_t>(v.begin(), v.end())).address;
        };
        const Buffer out = upload(std::vector<T>(n, T{9}));
        vulkan_->launch(
            gather_scatter(target(), s, lanes, wide),
            {upload(in).address, index(from), index(to), upload(mask).address, out.address},
            {kGroupCount, 1, 1});
        for (size_t i = 0; i < n; ++i) {
          const T loaded = (mask[i] & 1) != 0 ? in[static_cast<size_t>(from[i])] : T{7};
          const T expected = mask[i] != 0 ? loaded : T{9};
          ASSERT_EQ(out.as<T>()[static_cast<size_t>(to[i])], expected)
              << kir::name(s) << " x " << lanes << " at " << i;
        }
        vulkan_->free_buffers();
      }
    }
  });
}

TEST_F(VulkanMemory, EqualIndicesHighestLaneWins) {
  constexpr uint16_t kLanes = 4;
  const size_t n = size_t{kSampleThreads} * kLanes;
  const auto in = iota<uint32_t>(n, 1);
  std::vector<int32_t> from(n), to(n);
  for (size_t i = 0; i < n; ++i) {
    from[i] = static_cast<int32_t>(i);
    to[i] = static_cast<int32_t>(i / kLanes);
  }
  const Buffer out = upload(std::vector<uint32_t>(n));
  vulkan_->launch(gather_scatter(target(), Scalar::i32, kLanes, false),
                  {upload(in).address, upload(from).address, upload(to).address,
                   upload(std::vector<uint8_t>(n, 1)).address, out.address});
  for (size_t i = 0; i < kSampleThreads; ++i) {
    EXPECT_EQ(out.as<uint32_t>()[i], in[i * kLanes + kLanes - 1]);
  }
}

TEST_F(VulkanMemory, PointersAlignedToLessThanTheirVectors) {
  each_type([&]<typename T>(Scalar s) {
    for (uint16_t lanes : {1, 2, 4, 8, 16}) {
      // Up to whole vectors: pointers that many bytes behind a boundary.
      for (uint32_t align = sizeof(T); align <= 16 && align <= lanes * sizeof(T); align *= 2) {
        const size_t n = size_t{kThreads} * lanes, first = align / sizeof(T);
        const auto in = iota<T>(n + first, 7);
        const Buffer out = upload(std::vector<T>(n + first));
        vulkan_->launch(aligned_copy(target(), s, lanes, align),
                        {upload(in).address + align, out.address + align}, {kGroupCount, 1, 1});
        EXPECT_EQ(out.as<T>()[first - 1], T{});
        for (size_t i = first; i < n + first; ++i)
          ASSERT_EQ(out.as<T>()[i], in[i]) << kir::name(s) << " x " << lanes << " at " << align;
        vulkan_->free_buffers();
      }
    }
  });
}

// Two elements a word where they lie so, else one by one.
TEST_F(VulkanMemory, UpperHalvesOfWords) {
  for (uint16_t lanes : {1, 2, 4, 8, 16}) {
    for (uint32_t align : {2u, std::min(16u, 2u * lanes)}) {
      const size_t n = size_t{kThreads} * lanes;
      std::vector<uint16_t> in(n);
      for (uint16_t& x : in) x = static_cast<uint16_t>(random_());
      const Buffer out = upload(std::vector<uint16_t>(n));
      vulkan_->launch(upper_halves(target(), lanes, align, 0x18000),
                      {upload(in).address, out.address}, {kGroupCount, 1, 1});
      for (size_t i = 0; i < n; ++i)
        ASSERT_EQ(out.as<uint16_t>()[i], static_cast<uint16_t>(in[i] + 1)) << lanes << " " << align;
      vulkan_->free_buffers();
    }
  }
}

TEST_F(VulkanMemory, PrivateArrays) {
  each_type([&]<typename T>(Scalar s) {
    const Buffer out = upload(std::vector<T>(kThreads));
    vulkan_->launch(private_array(target(), s), {out.address}, {kGroupCount, 1, 1});
    for (uint32_t i = 0; i < kThreads; ++i) {
      T array[16] = {}, sum{};
      for (uint32_t k = 0; k < 16; ++k) array[k * 5 % 16] = static_cast<T>(i * k);
      for (uint32_t k = 0; k < 16; ++k) {
        sum = static_cast<T>(sum + static_cast<T>(array[k] * static_cast<T>(k)));
      }
      ASSERT_EQ(out.as<T>()[i], sum) << kir::name(s) << " at " << i;
    }
  });
}

TEST_F(VulkanMemory, PointerTables) {
  const Buffer a = upload(iota<int32_t>(kThreads + 1, 3)), b = upload(std::vector<int32_t>{10000});
  const Buffer c = upload(std::vector<int32_t>{20000});
  std::vector<uint64_t> table(kThreads);
  for (uint32_t i = 0; i < kThreads; ++i) table[i] = a.address + 4 * ((i * 7) % kThreads);
  const Buffer out = upload(std::vector<int32_t>(kThreads));
  vulkan_->launch(pointer_table(target()),
                  {upload(table).address, b.address, c.address, out.address}, {kGroupCount, 1, 1});
  for (uint32_t i = 0; i < kThreads; ++i) {
    const int32_t expected = a.as<int32_t>()[(i * 7) % kThreads + 1] + (i % 2 == 1 ? 10000 : 20000);
    ASSERT_EQ(out.as<int32_t>()[i], expected);
  }
}

// --- atomics -------------------------------------------------------------------------------------

template <typename T>
T apply(Rmw rmw, T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    switch (rmw) {
      case Rmw::fadd:
        return x + y;
      case Rmw::fmin:
        return std::isnan(x) ? x : std::isnan(y) ? y : std::min(x, y);
      default:
        return std::isnan(x) ? x : std::isnan(y) ? y : std::max(x, y);
    }
  } else {
    using S = std::make_signed_t<T>;
    const S sx = static_cast<S>(x), sy = static_cast<S>(y);
    switch (rmw) {
      case Rmw::add:
        return static_cast<T>(x + y);
      case Rmw::min_s:
        return static_cast<T>(std::min(sx, sy));
      case Rmw::max_s:
        return static_cast<T>(std::max(sx, sy));
      case Rmw::min_u:
        return std::min(x, y);
      case Rmw::max_u:
        return std::max(x, y);
      case Rmw::and_:
        return x & y;
      case Rmw::or_:
        return x | y;
      case Rmw::xor_:
        return x ^ y;
      default:
        return y;
    }
  }
}

// Values whose reduction does not depend on the order, so that all threads may hit eight slots.
template <typename T>
std::vector<T> atomic_values(Rmw rmw, std::mt19937& random) {
  std::vector<T> v(kThreads);
  for (T& x : v) {
    if constexpr (std::is_floating_point_v<T>) {
      x = static_cast<T>(static_cast<int>(random() % 2001) - 1000) / T{4};
    } else {
      x = static_cast<T>(uint64_t{random()} << 32 | random());
    }
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (rmw != Rmw::fadd) v[kThreads / 2] = std::numeric_limits<T>::quiet_NaN();
  }
  return v;
}

template <typename T>
bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a == b || (std::isnan(a) && std::isnan(b));
  } else {
    return a == b;
  }
}

template <typename F>
void each_atomic(const F& f) {
  each_type([&]<typename T>(Scalar s) {
    for (int r = 0; r <= static_cast<int>(Rmw::fmax); ++r) {
      if (kir::is_float(static_cast<Rmw>(r)) == std::is_floating_point_v<T>) {
        f.template operator()<T>(s, static_cast<Rmw>(r));
      }
    }
  });
}

TEST_F(VulkanMemory, GlobalAtomics) {
  std::vector<int32_t> slots(kThreads);
  for (int32_t& s : slots) s = static_cast<int32_t>(random_() % 8);
  each_atomic([&]<typename T>(Scalar s, Rmw rmw) {
    vulkan_->skip_verifier(sizeof(T) < 4);
    const auto values = atomic_values<T>(rmw, random_);
    auto expected = iota<T>(8, 1);
    const Buffer x = upload(expected), old = upload(std::vector<T>(kThreads));
    vulkan_->launch(global_atomic(target(), rmw, s),
                    {x.address, upload(slots).address, upload(values).address, old.address},
                    {kGroupCount, 1, 1});
    const std::string what = std::string(kir::name(rmw)) + " " + std::string(kir::name(s));
    if (rmw == Rmw::exchange) {
      // What went in came out, but for the last one.
      std::multiset<T> in(values.begin(), values.end()),
          out(old.as<T>().begin(), old.as<T>().end());
      in.insert(expected.begin(), expected.end());
      out.insert(x.as<T>().begin(), x.as<T>().end());
      EXPECT_EQ(in, out) << what;
      return;
    }
    for (uint32_t i = 0; i < kThreads; ++i) {
      T& e = expected[static_cast<size_t>(slots[i])];
      e = apply(rmw, e, values[i]);
    }
    for (size_t i = 0; i < 8; ++i) {
      EXPECT_TRUE(same(x.as<T>()[i], expected[i]))
          << what << " at " << i << ": " << +x.as<T>()[i] << ", expected " << +expected[i];
    }
    if (rmw == Rmw::add) {
      // Each thread saw another value on the way: the old values plus the added are a chain.
      std::multiset<T> starts, ends;
      for (uint32_t i = 0; i < kThreads; ++i) {
        starts.insert(old.as<T>()[i]);
        ends.insert(static_cast<T>(old.as<T>()[i] + values[i]));
      }
      for (size_t i = 0; i < 8; ++i) {
        starts.insert(expected[i]);
        ends.insert(iota<T>(8, 1)[i]);
      }
      EXPECT_EQ(starts, ends) << what;
    }
    vulkan_->free_buffers();
  });
}

TEST_F(VulkanMemory, GroupAtomics) {
  std::vector<int32_t> slots(kThreads);
  for (int32_t& s : slots) s = static_cast<int32_t>(random_() % 8);
  each_atomic([&]<typename T>(Scalar s, Rmw rmw) {
    if (rmw == Rmw::exchange) return;
    vulkan_->skip_verifier(sizeof(T) < 4);
    const auto values = atomic_values<T>(rmw, random_);
    const Buffer out = upload(std::vector<T>(kGroupCount * 8));
    vulkan_->launch(group_atomic(target(), rmw, s),
                    {upload(slots).address, upload(values).address, out.address},
                    {kGroupCount, 1, 1});
    std::vector<T> expected(kGroupCount * 8, values[0]);
    for (uint32_t i = 0; i < kThreads; ++i) {
      T& e = expected[i / kSampleThreads * 8 + static_cast<uint32_t>(slots[i])];
      e = apply(rmw, e, values[i]);
    }
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_TRUE(same(out.as<T>()[i], expected[i]))
          << kir::name(rmw) << " " << kir::name(s) << " at " << i << ": " << +out.as<T>()[i]
          << ", expected " << +expected[i];
    }
    vulkan_->free_buffers();
  });
}

TEST_F(VulkanMemory, FloatAtomicAddOfTheDevice) {
  if (!vulkan_->has_float_atomic_add()) GTEST_SKIP() << "no shaderBufferFloat32AtomicAdd";
  TargetModel with = target();
  with.atomic_f32_add = true;
  std::vector<int32_t> slots(kThreads, 3);
  const auto values = atomic_values<float>(Rmw::fadd, random_);
  const Buffer x = upload(std::vector<float>(8)), old = upload(std::vector<float>(kThreads));
  vulkan_->launch(global_atomic(with, Rmw::fadd, Scalar::f32), with,
                  std::array{x.address, upload(slots).address, upload(values).address, old.address},
                  {kGroupCount, 1, 1});
  float sum = 0;
  for (float v : values) sum += v;
  EXPECT_EQ(x.as<float>()[3], sum);
}

TEST_F(VulkanMemory, CompareExchange) {
  const auto run = [&]<typename T>(Scalar s) {
    for (bool in_group : {false, true}) {
      const auto values = atomic_values<T>(Rmw::add, random_);
      const Buffer x = upload(std::vector<T>(1));
      vulkan_->launch(cas_add(target(), s, in_group), {x.address, upload(values).address},
                      {kGroupCount, 1, 1});
      T sum{};
      for (T v : values) sum = static_cast<T>(sum + v);
      EXPECT_EQ(x.as<T>()[0], sum) << kir::name(s) << (in_group ? " in group" : "");
    }
  };
  run.operator()<uint32_t>(Scalar::i32);
  run.operator()<uint64_t>(Scalar::i64);
  vulkan_->skip_verifier(true);
  run.operator()<uint8_t>(Scalar::i8);
  run.operator()<uint16_t>(Scalar::i16);
}

}  // namespace
}  // namespace primset::emit::testing
