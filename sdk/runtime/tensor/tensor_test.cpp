#include "primset/tensor.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "primset/statistics.h"
#include "sdk/runtime/device/device_state.h"

namespace primset {
namespace {

std::vector<float> counting(size_t n) {
  std::vector<float> v(n);
  std::iota(v.begin(), v.end(), 0.0f);
  return v;
}

TEST(Device, Names) {
  EXPECT_EQ(Device("cpu").to_string(), "cpu");
  EXPECT_EQ(Device("cpu:0"), Device::cpu());
  EXPECT_EQ(Device("acme").to_string(), "acme:0");
  EXPECT_EQ(Device("acme:3").index(), 3);
  EXPECT_NE(Device("acme:3"), Device("acme:2"));
  for (const char* bad : {"", "Cpu", "cpu:", "cpu:x", "cpu:-1", "cpu:99999", ":0", "a b"})
    EXPECT_THROW(Device{bad}, Error) << bad;
}

TEST(Device, GuardsNest) {
  const Device before = current_device();
  {
    DeviceGuard outer("meta");
    EXPECT_EQ(current_device(), Device::meta());
    {
      DeviceGuard inner("cpu");
    }
    EXPECT_EQ(current_device(), Device::meta());
  }
  EXPECT_EQ(current_device(), before);
}

TEST(Tensor, CopiesInAndOut) {
  const Tensor t = Tensor::of<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(t.to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(t.is_contiguous());
  EXPECT_EQ(t.size(-1), 3);
  EXPECT_THROW(t.size(2), Error);
  EXPECT_THROW(t.to_vector<double>(), Error);
  EXPECT_THROW(Tensor::of<float>({1, 2}, {3}), Error);
}

TEST(Tensor, StridedViewsReadTheirElements) {
  const std::vector<float> data = counting(24);
  const Tensor t = Tensor::from_host(data.data(), {2, 3, 4}, DType::f32);
  const Tensor transposed = t.as_strided({4, 2}, {1, 12}, 4);
  EXPECT_EQ(transposed.to_vector<float>(), (std::vector<float>{4, 16, 5, 17, 6, 18, 7, 19}));
  EXPECT_TRUE(transposed.is_alias_of(t));
  Tensor column = t.as_strided({2}, {12}, 1);
  const float values[] = {-1, -2};
  column.copy_from_host(values, sizeof(values));
  EXPECT_EQ(t.to_vector<float>()[1], -1);
  EXPECT_EQ(t.to_vector<float>()[13], -2);
  EXPECT_EQ(t.to_vector<float>()[2], 2);
}

TEST(Tensor, ViewsStayInsideTheirStorage) {
  const Tensor t = Tensor::empty({4}, DType::f32);
  EXPECT_NO_THROW(t.as_strided({2}, {2}, 1));
  EXPECT_THROW(t.as_strided({2}, {3}, 1), Error);
  EXPECT_THROW(t.as_strided({2}, {-1}, 1), Error);
  EXPECT_THROW(t.as_strided({2}, {1}, -1), Error);
  EXPECT_THROW(t.as_strided({INT64_MAX}, {INT64_MAX}, 0), Error);
  EXPECT_THROW(Tensor::empty({-1}, DType::f32), Error);
  EXPECT_THROW(Tensor::empty({INT64_MAX, INT64_MAX}, DType::f32), Error);
  EXPECT_NO_THROW(t.as_strided({0}, {100}, 100));
}

TEST(Tensor, WrapsForeignMemoryAndGivesItBack) {
  std::array<float, 6> memory = {0, 1, 2, 3, 4, 5};
  bool freed = false;
  {
    ForeignMemory foreign;
    foreign.deleter = [&] { freed = true; };
    Tensor t =
        Tensor::from_memory(memory.data(), {3, 2}, {1, 3}, DType::f32, Device::cpu(), foreign);
    EXPECT_EQ(t.data_ptr(), memory.data());
    EXPECT_EQ(t.to_vector<float>(), (std::vector<float>{0, 3, 1, 4, 2, 5}));
    EXPECT_TRUE(t.storage().is_foreign());
    const Tensor view = t.as_strided({2}, {1}, 4);
    t = Tensor();
    EXPECT_FALSE(freed);
  }
  EXPECT_TRUE(freed);
  EXPECT_THROW(Tensor::from_memory(reinterpret_cast<char*>(memory.data()) + 1, {1}, DType::f32),
               Error);
}

TEST(Tensor, BitsAreAppliedWhenRead) {
  const Tensor z = Tensor::of<std::complex<float>>({{1, 2}, {3, -4}}, {2});
  const Tensor conj = Tensor::view_of(z.storage(), DType::c64, {2}, {1}, 0, true);
  EXPECT_EQ(conj.to_vector<std::complex<float>>()[1], std::complex<float>(3, 4));
  const Tensor r = Tensor::of<float>({1, -2}, {2});
  const Tensor neg = Tensor::view_of(r.storage(), DType::f32, {2}, {1}, 0, false, true);
  EXPECT_EQ(neg.to_vector<float>(), (std::vector<float>{-1, 2}));
}

TEST(Tensor, Overlap) {
  const Tensor t = Tensor::empty({8}, DType::f32);
  const Tensor low = t.as_strided({4}, {1}, 0), high = t.as_strided({4}, {1}, 4),
               middle = t.as_strided({4}, {1}, 2), expanded = t.as_strided({4}, {0}, 0);
  EXPECT_EQ(low.overlap(high), Overlap::none);
  EXPECT_EQ(low.overlap(middle), Overlap::partial);
  EXPECT_EQ(low.overlap(t.as_strided({4}, {1}, 0)), Overlap::full);
  EXPECT_EQ(low.overlap(Tensor::empty({4}, DType::f32)), Overlap::none);
  EXPECT_EQ(expanded.internal_overlap(), Overlap::full);
  EXPECT_EQ(low.internal_overlap(), Overlap::none);
  EXPECT_EQ(t.as_strided({4}, {2}, 0).internal_overlap(), Overlap::unknown);
}

TEST(Tensor, MemoryFormats) {
  const Tensor t = Tensor::empty_strided({2, 3, 4, 5}, {60, 1, 15, 3}, DType::f32);
  EXPECT_FALSE(t.is_contiguous());
  EXPECT_TRUE(t.is_contiguous(MemoryFormat::channels_last));
  EXPECT_TRUE(t.is_non_overlapping_and_dense());
}

// As PyTorch 2.13 answers: of an empty tensor the strides decide.
TEST(Tensor, MemoryFormatsOfEmptyTensors) {
  const auto is_channels_last = [](const std::vector<int64_t>& strides) {
    const Tensor t = Tensor::empty_strided({2, 0, 4, 5}, strides, DType::f32);
    EXPECT_TRUE(t.is_contiguous());
    return t.is_contiguous(MemoryFormat::channels_last);
  };
  EXPECT_FALSE(is_channels_last({20, 20, 5, 1}));
  EXPECT_TRUE(is_channels_last({0, 1, 0, 0}));
}

TEST(Tensor, MetaHasNoData) {
  const Tensor t = Tensor::empty({1 << 20, 1 << 20}, DType::f32, "meta");
  EXPECT_EQ(t.numel(), int64_t{1} << 40);
  EXPECT_THROW(t.item(), Error);
  float f = 0;
  EXPECT_THROW(t.copy_to_host(&f, 4), Error);
}

TEST(Tensor, HighRank) {
  std::vector<int64_t> sizes(12, 1);
  sizes[3] = 2;
  sizes[10] = 3;
  const Tensor t = Tensor::from_host(counting(6).data(), sizes, DType::f32);
  EXPECT_EQ(t.dim(), 12);
  EXPECT_EQ(t.to_vector<float>(), counting(6));
  EXPECT_THROW(Tensor::empty(std::vector<int64_t>(65, 1), DType::f32), Error);
}

TEST(CachingAllocator, ReusesFreedMemory) {
  empty_cache(current_device());
  const void* first = nullptr;
  {
    first = Tensor::empty({100}, DType::f32).data_ptr();
  }
  EXPECT_EQ(Tensor::empty({100}, DType::f32).data_ptr(), first);
  const MemoryStatistics before = memory_statistics(current_device());
  for (int i = 0; i < 100; ++i) Tensor::empty({1 << 20}, DType::f32);
  const MemoryStatistics after = memory_statistics(current_device());
  EXPECT_LE(after.plugin_allocations - before.plugin_allocations, 1u);
  EXPECT_EQ(after.allocated, before.allocated);
  empty_cache(current_device());
  EXPECT_LT(memory_statistics(current_device()).reserved, after.reserved);
}

TEST(CachingAllocator, RoundsLittle) {
  runtime::CachingAllocator& a = runtime::device_state(Device::cpu()).allocator();
  for (uint64_t n = 1; n < (1u << 24); n = n * 5 / 4 + 1) {
    const uint64_t r = a.rounded(n);
    EXPECT_GE(r, n);
    EXPECT_LE(r, std::max<uint64_t>(n + n / 4 + 64, 64));
    EXPECT_EQ(r % 64, 0u);
  }
}

TEST(CachingAllocator, TooMuchIsAnError) {
  try {
    Tensor::empty({int64_t{1} << 50}, DType::f32);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::out_of_memory) << e.what();
  }
}

}  // namespace
}  // namespace primset
