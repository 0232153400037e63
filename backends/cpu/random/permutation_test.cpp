// Permutations of several buckets, parts and threads, against a stable sort by whole keys.
#include "backends/cpu/random/permutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace primset_cpu {
namespace {

constexpr uint64_t kKey = 0x123456789abcdef0, kOffset = 0xfffffff0;

uint64_t key_of(int64_t i) {
  return Philox{kKey}.high_words(kOffset + static_cast<uint64_t>(i));
}

void expect_order_of_keys(int64_t size, int number_bits) {
  ThreadPool pool(3);
  std::vector<int64_t> expected(static_cast<size_t>(size)), found(expected);
  std::iota(expected.begin(), expected.end(), 0);
  std::ranges::sort(expected, {}, [](int64_t i) { return std::pair(key_of(i), i); });
  RandomPermutation(kKey, kOffset, size, found.data(), number_bits).run(pool);
  EXPECT_EQ(found, expected) << size << " of " << number_bits << " bits";
}

// The words of Random123's list of known answers.
TEST(Philox, HasKnownAnswers) {
  EXPECT_EQ(Philox{0}.high_words(0), 0x9b00dbd8bc57ac4cu);
}

TEST(RandomPermutation, IsTheOrderOfKeys) {
  for (const int64_t size : {0, 1, 2, 3, 100, 4095, 4096, 5000, 32768, 100000})
    expect_order_of_keys(size, RandomPermutation::bits_of_numbers(size));
}

// Few bits of keys tell few entries apart.
TEST(RandomPermutation, LooksAtWholeKeysWhereTheirBitsAreEqual) {
  for (const int number_bits : {40, 50, 60}) expect_order_of_keys(50000, number_bits);
}

}  // namespace
}  // namespace primset_cpu
