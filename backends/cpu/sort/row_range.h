// What is known of the numbers of a row of keys, found in one pass by as many threads as share it.
#ifndef PRIMSET_BACKENDS_CPU_SORT_ROW_RANGE_H_
#define PRIMSET_BACKENDS_CPU_SORT_ROW_RANGE_H_

#include <limits>
#include <vector>

#include "backends/cpu/sort/key_order.h"
#include "backends/cpu/sort/row_order.h"

namespace primset_cpu {

// A row of so many elements is shared by the threads, if there are no others.
inline constexpr int64_t kLongRow = 1 << 15;

// f(p, first, end) of each of the row's parts.
template <typename F>
void over_row(ThreadPool& pool, int64_t size, int64_t parts, const F& f) {
  const auto some = [&](int64_t first, int64_t end) {
    for (int64_t p = first; p < end; ++p) f(p, size * p / parts, size * (p + 1) / parts);
  };
  if (parts == 1) return some(0, 1);
  in_parallel(pool, parts, some);
}

template <typename U, KeyKind kKind>
struct KeyRow {
  KeyOrder<U, kKind> order;
  const U* keys;
  int64_t stride, size;

  PRIMSET_INLINE U number(int64_t i) const { return order.number(keys[i * stride]); }

  // pre: size > 0
  NumberRange range(ThreadPool& pool, int64_t parts) const {
    if (parts == 1) return range_of(0, size);
    std::vector<NumberRange> ranges(static_cast<size_t>(parts));
    over_row(pool, size, parts, [&](int64_t p, int64_t first, int64_t end) {
      ranges[static_cast<size_t>(p)] = range_of(first, end);
    });
    NumberRange all = ranges[0];
    for (int64_t p = 1; p < parts; ++p) {
      const U first = number(size * p / parts), before = number(size * p / parts - 1);
      all.add(ranges[static_cast<size_t>(p)], before <= first, static_cast<U>(first ^ number(0)));
    }
    return all;
  }

 private:
  NumberRange range_of(int64_t first, int64_t end) const {
    const U one = first < end ? number(first) : U{0};
    U least = std::numeric_limits<U>::max(), greatest = 0, before = 0, differing = 0;
    bool ascending = true, told = true;
    for (int64_t i = first; i < end; ++i) {
      const U n = number(i);
      told &= order.is_told(keys[i * stride]);
      ascending &= before <= n, differing |= n ^ one;
      least = std::min(least, n), greatest = std::max(greatest, n), before = n;
    }
    return {least, greatest, differing, ascending, told};
  }
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_SORT_ROW_RANGE_H_
