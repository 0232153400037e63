// Copies between devices: of a plugin that has pinned memory and reaches from one of its devices to
// the other (testdata/test_peers_plugin.c), whose copies of pinned memory are late on purpose.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <primset/ops/copy_and_cast.h>
#include <primset/ops/creation.h>
#include <primset/ops/pointwise_binary.h>
#include <primset/ops/view.h>

#include <complex>
#include <cstdlib>
#include <numeric>

#include "primset/error.h"
#include "primset/primset.h"
#include "primset/statistics.h"

namespace primset {
namespace {

using testing::HasSubstr;

const Device kFirst("peers:0"), kSecond("peers:1");

class DeviceCopy : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("PRIMSET_PLUGIN_PATH", PRIMSET_TEST_PLUGIN_DIR, 1);
    setenv("PRIMSET_VALIDATE", "1", 1);
  }
  void TearDown() override {
    synchronize(kFirst);
    synchronize(kSecond);
  }

  // How often the plugin was asked for something.
  static uint32_t count(const char* what) {
    void* plugin = dlopen(PRIMSET_TEST_PLUGIN_DIR "/libpeers_primset.so", RTLD_NOW | RTLD_NOLOAD);
    EXPECT_NE(plugin, nullptr);
    const auto ask = reinterpret_cast<uint32_t (*)(const char*)>(dlsym(plugin, "peers_count"));
    const uint32_t answer = ask(what);
    dlclose(plugin);
    return answer;
  }
};

std::vector<int32_t> counted(size_t n, int32_t first = 0) {
  std::vector<int32_t> values(n);
  std::iota(values.begin(), values.end(), first);
  return values;
}
Tensor counted_tensor(std::vector<int64_t> sizes, Device device = Device::cpu()) {
  const auto n = std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
  return Tensor::of(std::span<const int32_t>(counted(static_cast<size_t>(n))), sizes, device);
}

TEST_F(DeviceCopy, GoesFromPeerToPeer) {
  const Tensor here = counted_tensor({100, 7}, kFirst);
  const uint32_t before = count("peer copies");
  const Tensor there = here.to(kSecond);
  EXPECT_EQ(count("peer copies"), before + 1);
  EXPECT_EQ(there.to_vector<int32_t>(), counted(700));
  EXPECT_EQ(there.to(kFirst).to_vector<int32_t>(), counted(700));
}

// Also what lies with gaps, transposed, or is a view of few elements.
TEST_F(DeviceCopy, KeepsValuesOfAnyLayout) {
  for (const Device& from : {Device::cpu(), kFirst}) {
    const Tensor whole = counted_tensor({6, 8}, from);
    const Tensor views[] = {whole.as_strided({8, 6}, {1, 8}, 0),
                            whole.as_strided({3, 4}, {16, 2}, 1),
                            whole.as_strided({5, 3}, {0, 1}, 9),
                            whole.as_strided({0, 3}, {3, 1}, 2), whole.as_strided({}, {}, 47)};
    for (const Tensor& view : views) {
      const std::vector<int32_t> values = view.to_vector<int32_t>();
      for (const Device& to : {Device::cpu(), kFirst, kSecond}) {
        const Tensor copy = view.to(to);
        EXPECT_EQ(copy.to_vector<int32_t>(), values);
        if (view.dim() != 2) continue;
        Tensor into = Tensor::of(std::span<const int32_t>(counted(200, 500)), {200}, to)
                          .as_strided(view.sizes(), {2 * 10, 3}, 3);
        primset::copy_(into, view);
        EXPECT_EQ(into.to_vector<int32_t>(), values);
      }
    }
  }
}

TEST_F(DeviceCopy, ConvertsAndResolves) {
  const Tensor halves = primset::_to_copy(counted_tensor({10}, kFirst), DType::f16);
  Tensor floats = Tensor::empty({10}, DType::f32);
  primset::copy_(floats, halves);
  EXPECT_EQ(floats.to_vector<float>()[9], 9.0f);
  Tensor back = Tensor::empty({10}, DType::f64, kSecond);
  primset::copy_(back, floats);
  EXPECT_EQ(back.to_vector<double>()[3], 3.0);
  primset::copy_(floats, primset::mul(back, Scalar(0.5)));
  EXPECT_EQ(floats.to_vector<float>()[3], 1.5f);
  const Tensor z = Tensor::of<std::complex<float>>({{1, 2}, {3, -4}}, {2}, kFirst);
  const Tensor turned = primset::conj(z).to(kSecond);
  EXPECT_EQ(turned.to_vector<std::complex<float>>()[0], std::complex<float>(1, -2));
}

TEST_F(DeviceCopy, GoesByPiecesWhereDevicesAreApart) {
  constexpr int64_t kElements = (9 << 20) / 4 + 3;
  const Tensor here = counted_tensor({kElements}, kFirst);
  setenv("PEERS_APART", "1", 1);
  const uint32_t peer = count("peer copies"), late = count("late copies");
  const Tensor there = here.to(kSecond);
  unsetenv("PEERS_APART");
  EXPECT_EQ(count("peer copies"), peer);
  EXPECT_EQ(count("late copies"), late + 3) << "pieces of pinned memory";
  EXPECT_EQ(there.to_vector<int32_t>(), counted(kElements));
}

TEST_F(DeviceCopy, FromPinnedMemoryWaitsForNothing) {
  const Tensor values = counted_tensor({1000});
  EXPECT_FALSE(values.is_pinned());
  Tensor pinned = values.pin_memory(kFirst);
  EXPECT_TRUE(pinned.is_pinned());
  EXPECT_TRUE(pinned.device().is_cpu());
  EXPECT_EQ(pinned.to_vector<int32_t>(), counted(1000));
  EXPECT_EQ(pinned.pin_memory(kFirst).data_ptr(), pinned.data_ptr());
  const uint32_t late = count("late copies");
  const Tensor there = pinned.to(kFirst, true);
  EXPECT_EQ(count("late copies"), late + 1);
  pinned.data<int32_t>()[0] = 77;  // before the copy is done: so the device gets it
  EXPECT_EQ(there.to_vector<int32_t>()[0], 77);
  // Of memory that is not pinned, and without being asked for, nothing is late.
  values.to(kFirst, true);
  pinned.to(kFirst);
  EXPECT_EQ(count("late copies"), late + 1);
}

TEST_F(DeviceCopy, ToTheHostWithoutWaitingIsPinned) {
  const Tensor here = counted_tensor({1000}, kFirst);
  const uint32_t late = count("late copies");
  const Tensor host = here.to(Device::cpu(), true);
  EXPECT_TRUE(host.is_pinned());
  EXPECT_EQ(count("late copies"), late + 1);
  synchronize(kFirst);
  EXPECT_EQ(host.to_vector<int32_t>(), counted(1000));
  EXPECT_FALSE(here.cpu().is_pinned());
}

// A block is given again only when the copies from it are done, and given back when asked for.
TEST_F(DeviceCopy, PinnedMemoryIsReusedAfterItsCopies) {
  synchronize(kFirst);
  empty_cache(kFirst);
  const uint32_t blocks = count("pinned blocks");
  Tensor pinned = counted_tensor({3000}).pin_memory(kFirst);
  const void* first = pinned.data_ptr();
  const Tensor there = pinned.to(kFirst, true);
  pinned = Tensor();
  Tensor second = counted_tensor({3000}).pin_memory(kFirst);
  EXPECT_NE(second.data_ptr(), first) << "the copy from it is still to come";
  EXPECT_EQ(count("pinned blocks"), blocks + 2);
  synchronize(kFirst);
  const Tensor third = counted_tensor({3000}).pin_memory(kFirst);
  EXPECT_EQ(third.data_ptr(), first);
  EXPECT_EQ(there.to_vector<int32_t>(), counted(3000));
  second = Tensor();
  empty_cache(kFirst);
  EXPECT_EQ(count("pinned blocks"), blocks + 1);
}

TEST_F(DeviceCopy, PinnedTensorsGrow) {
  Tensor pinned = counted_tensor({4}).pin_memory(kFirst);
  primset::resize_(pinned, {5000});
  EXPECT_TRUE(pinned.is_pinned());
  EXPECT_EQ(pinned.data<int32_t>()[3], 3);
}

TEST_F(DeviceCopy, WhatCannotBePinnedSaysWhy) {
  const auto text_of = [](auto f) -> std::string {
    try {
      f();
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_THAT(text_of([] { counted_tensor({3}).pin_memory(Device::cpu()); }),
              HasSubstr("cpu:0: has no pinned memory: the plugin has no primset.pinned_memory/1"));
  EXPECT_THAT(text_of([] { counted_tensor({3}, kFirst).pin_memory(kFirst); }),
              HasSubstr("cannot pin a tensor of peers:0"));
}

}  // namespace
}  // namespace primset
