// Where rows begin among ascending numbers, against std::lower_bound: next to each other, far
// apart, and more than one thread takes at a time.
#include "backends/cpu/sparse/row_numbers.h"

#include <gtest/gtest.h>

#include <random>

namespace primset_cpu {
namespace {

// `count` ascending numbers below the limit, every `stride`-th of a list.
template <typename Index>
std::vector<Index> ascending(int64_t count, int64_t limit, int64_t stride) {
  std::mt19937_64 random(7);
  std::vector<Index> numbers(static_cast<size_t>(count));
  for (Index& n : numbers) n = static_cast<Index>(random() % static_cast<uint64_t>(limit));
  std::ranges::sort(numbers);
  std::vector<Index> list(static_cast<size_t>(count * stride), Index{-1});
  for (int64_t i = 0; i < count; ++i)
    list[static_cast<size_t>(i * stride)] = numbers[static_cast<size_t>(i)];
  return list;
}

template <typename Index, int64_t step>
void expect_counts(int64_t count, int64_t wanted, int64_t stride) {
  SCOPED_TRACE(testing::Message() << count << " numbers below " << wanted << ", " << stride);
  ThreadPool pool(3);
  std::vector<Index> list = ascending<Index>(count, wanted, stride);
  std::vector<int64_t> counts(static_cast<size_t>(wanted), -7);
  primset_buffer_t from{}, to{};
  from.address = reinterpret_cast<char*>(list.data());
  to.address = reinterpret_cast<char*>(counts.data());
  const int64_t one = 1;
  const primset_tensor numbers = {
      sizeof(primset_tensor), PRIMSET_I64, &from, 0, 1, 0, &count, &stride};
  const primset_tensor result = {sizeof(primset_tensor), PRIMSET_I64, &to, 0, 1, 0, &wanted, &one};
  primset_primitive_call call{};
  call.operands = &numbers;
  call.results = &result;
  CountsBelowCall<Index, step>(call).run(pool);
  for (int64_t k = 0; k < wanted; ++k) {
    int64_t below = 0;
    for (int64_t high = count; below < high;) {
      const int64_t middle = (below + high) / 2;
      if (list[static_cast<size_t>(middle * stride)] < k + step)
        below = middle + 1;
      else
        high = middle;
    }
    ASSERT_EQ(counts[static_cast<size_t>(k)], below - step) << k;
  }
}

TEST(CpuRowNumbers, AreAsBinarySearchesFindThem) {
  for (const int64_t count : {0, 1, 7, 8, 9, 1000, 50000}) {
    for (const int64_t wanted : {1, 3, 100, 20000}) {
      expect_counts<int32_t, 0>(count, wanted, 1);
      expect_counts<int64_t, 0>(count, wanted, 3);
      expect_counts<int64_t, 1>(count, wanted, 1);
    }
  }
}

}  // namespace
}  // namespace primset_cpu
