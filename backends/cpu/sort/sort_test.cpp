// How native sorts order keys: against std::sort of numbers with their positions, and all keys of
// 16 bits against each other.
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "backends/cpu/sort/key_order.h"
#include "backends/cpu/sort/row_order.h"
#include "backends/cpu/sort/row_select.h"

namespace primset_cpu {
namespace {

std::vector<uint64_t> numbers_below(uint64_t limit, int64_t count) {
  std::mt19937_64 random(7);
  std::vector<uint64_t> list(static_cast<size_t>(count));
  for (uint64_t& n : list) n = random() % limit;
  return list;
}

template <typename Entry>
void expect_stable(int64_t size, int bits, int64_t parts) {
  SCOPED_TRACE(testing::Message() << size << " numbers of " << bits << " bits in " << parts);
  ThreadPool pool(3);
  const std::vector<uint64_t> numbers = numbers_below(uint64_t{1} << bits, size);
  RowOrder<Entry> order(size, bits, parts);
  for (int64_t i = 0; i < size; ++i) order.set(i, numbers[static_cast<size_t>(i)]);
  order.sort(pool);
  RowOrder<NumberEntry<uint64_t>> keys(size, bits, parts);
  for (int64_t i = 0; i < size; ++i) keys.set(i, numbers[static_cast<size_t>(i)]);
  keys.sort(pool);
  std::vector<size_t> want(numbers.size());
  std::iota(want.begin(), want.end(), size_t{0});
  std::ranges::sort(want, {}, [&](size_t i) { return std::pair(numbers[i], i); });
  for (int64_t i = 0; i < size; ++i) {
    ASSERT_EQ(static_cast<size_t>(order.position(i)), want[static_cast<size_t>(i)]) << i;
    ASSERT_EQ(order.number(i), numbers[want[static_cast<size_t>(i)]]) << i;
    ASSERT_EQ(keys.number(i), order.number(i)) << i;
  }
}

TEST(CpuSort, RowsOfAnyLengthAreStable) {
  for (const int64_t size : {1, 2, 7, 8, 9, 31, 32, 33, 127, 128, 129, 1000, 5000}) {
    for (const int bits : {1, 7, 12, 33, 40}) {
      for (const int64_t parts : {1, 3}) {
        expect_stable<PackedEntry>(size, bits, parts);
        expect_stable<WideEntry>(size, bits, parts);
      }
    }
  }
  // Numbers that their highest bits tell apart, and some that these do not.
  for (const int64_t parts : {1, 3}) {
    expect_stable<WideEntry>(3000, 63, parts);
    expect_stable<PackedEntry>(9000, 30, parts);
  }
}

// Against all of the row in order.
template <typename U>
void expect_selection(const std::vector<U>& row, int64_t k) {
  SCOPED_TRACE(testing::Message() << k << " of " << row.size() << " of " << sizeof(U) << " bytes");
  std::vector<uint32_t> want(row.size());
  std::iota(want.begin(), want.end(), 0u);
  std::ranges::sort(want, {}, [&](uint32_t i) { return std::pair(row[i], i); });
  RowSelect<U> select;
  EXPECT_EQ(select.kth(row, k), row[want[static_cast<size_t>(k - 1)]]);
  want.resize(static_cast<size_t>(k));
  std::ranges::sort(want);
  EXPECT_TRUE(std::ranges::equal(select.positions(row, k), want));
}

template <typename U>
void expect_selections() {
  for (const int64_t size : {1, 2, 31, 33, 64, 65, 500, 9000}) {
    for (const uint64_t limit : {uint64_t{1}, uint64_t{3}, uint64_t{200}, UINT64_MAX}) {
      std::vector<U> row;
      for (const uint64_t n : numbers_below(limit, size)) row.push_back(static_cast<U>(n));
      for (const int64_t k : {int64_t{1}, int64_t{2}, size / 40, size / 2, size})
        if (k >= 1 && k <= size) expect_selection(row, k);
      // The first part has what is greatest.
      std::ranges::sort(row, std::greater());
      expect_selection(row, 1);
    }
  }
}

TEST(CpuSort, SelectionsAreThoseOfRowsInOrder) {
  expect_selections<uint8_t>();
  expect_selections<uint16_t>();
  expect_selections<uint32_t>();
  expect_selections<uint64_t>();
}

// Keys of 16 bits by their numbers: each is before the next one or equal to it.
template <KeyKind kKind, typename Before>
void expect_order(uint16_t infinity, const Before& before) {
  for (const bool descending : {false, true}) {
    const KeyOrder<uint16_t, kKind> order{infinity, descending};
    std::vector<uint16_t> keys(1 << 16);
    std::iota(keys.begin(), keys.end(), uint16_t{0});
    std::ranges::sort(keys, {}, [&](uint16_t k) { return order.number(k); });
    for (size_t i = 0; i + 1 < keys.size(); ++i) {
      const uint16_t a = keys[descending ? i + 1 : i], b = keys[descending ? i : i + 1];
      ASSERT_FALSE(before(b, a)) << a << " and " << b;
      ASSERT_EQ(order.number(a) == order.number(b), !before(a, b)) << a << " and " << b;
    }
    for (const uint16_t k : keys)
      if (order.is_told(k)) ASSERT_EQ(order.bits(order.number(k)), k);
  }
}

TEST(CpuSort, KeysHaveTheOrderOfTheirNumbers) {
  expect_order<KeyKind::unsigned_integer>(0, [](uint16_t a, uint16_t b) { return a < b; });
  expect_order<KeyKind::signed_integer>(
      0, [](uint16_t a, uint16_t b) { return static_cast<int16_t>(a) < static_cast<int16_t>(b); });
  // bf16 is the upper half of f32; NaN is behind all others.
  const auto number = [](uint16_t k) { return std::bit_cast<float>(uint32_t{k} << 16); };
  expect_order<KeyKind::floating>(0x7f80, [&](uint16_t a, uint16_t b) {
    const float x = number(a), y = number(b);
    return x < y || (x == x && y != y);
  });
}

}  // namespace
}  // namespace primset_cpu
