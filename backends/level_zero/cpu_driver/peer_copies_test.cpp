// Tensors that go from one device of the driver for tests to another, with ZE_TEST_DEVICES=2 and
// ZE_TEST_TRACE=1: directly where each of the two reaches the other, which ZE_TEST_PEERS says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <primset/ops/copy_and_cast.h>
#include <primset/ops/creation.h>
#include <primset/ops/pointwise_binary.h>
#include <primset/primset.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace primset {
namespace {

using testing::HasSubstr;
using testing::Not;

const Device kFirst("level_zero:0"), kSecond("level_zero:1");

bool are_peers() {
  const char* setting = std::getenv("ZE_TEST_PEERS");
  return !setting || std::string_view(setting) == "all";
}

std::vector<int32_t> counted(size_t n) {
  std::vector<int32_t> values(n);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

Tensor full_of(int32_t value, Device device) {
  const std::vector<int32_t> values(1 << 20, value);
  return Tensor::of(std::span<const int32_t>(values), {1 << 20}, device);
}

bool is_full_of(const Tensor& tensor, int32_t value) {
  return std::ranges::all_of(tensor.to_vector<int32_t>(), [&](int32_t v) { return v == value; });
}

// Work that is still to be done for a while: the tensor plus `steps`.
Tensor slowly_added(Tensor tensor, int steps) {
  for (int i = 0; i < steps; ++i) tensor = primset::add(tensor, Scalar(1));
  return tensor;
}

// Copies of one tensor to another device, and what the driver said meanwhile.
Tensor copied(const Tensor& tensor, Device to, std::string& said) {
  synchronize(kFirst);
  synchronize(kSecond);
  testing::internal::CaptureStderr();
  const Tensor copy = tensor.to(to);
  synchronize(to);
  said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, Not(HasSubstr("refused")));
  EXPECT_THAT(said, Not(HasSubstr("validation")));
  return copy;
}

TEST(LevelZeroPeers, CopyDirectlyWhereTheyReachEachOther) {
  for (const size_t n : {size_t{1}, size_t{700}, size_t{(9 << 18) + 3}}) {
    const std::vector<int32_t> values = counted(n);
    const std::string bytes = "copy of " + std::to_string(4 * n) + " bytes ";
    const Tensor here =
        Tensor::of(std::span<const int32_t>(values), {static_cast<int64_t>(n)}, kFirst);
    std::string there_said, back_said;
    const Tensor there = copied(here, kSecond, there_said);
    EXPECT_EQ(there.device(), kSecond);
    EXPECT_EQ(there.to_vector<int32_t>(), values);
    const Tensor back = copied(there, kFirst, back_said);
    EXPECT_EQ(back.to_vector<int32_t>(), values);
    if (are_peers()) {
      EXPECT_THAT(there_said, HasSubstr(bytes + "from device 0 to device 1\n"));
      EXPECT_THAT(back_said, HasSubstr(bytes + "from device 1 to device 0\n"));
      EXPECT_THAT(there_said + back_said, Not(HasSubstr("the host")));
    } else {
      EXPECT_THAT(there_said, HasSubstr("from device 0 to the host\n"));
      EXPECT_THAT(there_said, HasSubstr("from the host to device 1\n"));
      EXPECT_THAT(back_said, HasSubstr("from device 1 to the host\n"));
    }
  }
}

TEST(LevelZeroPeers, LaterWorkWaitsForTheCopysSource) {
  Tensor values = full_of(0, kFirst);
  for (int32_t round = 1; round <= 10; ++round) {
    values = slowly_added(values, 5);
    const Tensor there = values.to(kSecond);
    values = primset::add(values, Scalar(1));
    ASSERT_TRUE(is_full_of(primset::add(there, Scalar(-6 * round)), -1)) << round;
  }
}

// While the target's device has other work to do, which the copy waits for.
TEST(LevelZeroPeers, TheSourceIsNotOverwrittenBeforeTheCopy) {
  Tensor source = full_of(0, kFirst), target = full_of(0, kSecond);
  for (int32_t round = 1; round <= 10; ++round) {
    primset::fill_(source, Scalar(round));
    const Tensor slow = slowly_added(target, 20);
    primset::copy_(target, slow);
    primset::copy_(target, source);
    primset::fill_(source, Scalar(-1));
    ASSERT_TRUE(is_full_of(target, round)) << round;
    ASSERT_TRUE(is_full_of(slow, round + 19)) << round;
  }
}

TEST(LevelZeroPeers, TwoThreadsCopyToAndFro) {
  const auto to_and_fro = [](Device from, Device to) {
    Tensor values = full_of(0, from);
    for (int32_t round = 0; round < 20; ++round)
      values = primset::add(primset::add(values.to(to), Scalar(1)).to(from), Scalar(1));
    EXPECT_TRUE(is_full_of(values, 40));
  };
  std::thread other(to_and_fro, kSecond, kFirst);
  to_and_fro(kFirst, kSecond);
  other.join();
}

}  // namespace
}  // namespace primset
