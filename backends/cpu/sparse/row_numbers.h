// The primitives compress_rows and expand_rows: where each row begins among ascending numbers of
// rows, and which row each entry is in by where rows begin.
#ifndef PRIMSET_BACKENDS_CPU_SPARSE_ROW_NUMBERS_H_
#define PRIMSET_BACKENDS_CPU_SPARSE_ROW_NUMBERS_H_

#include "backends/cpu/linalg/support.h"

namespace primset_cpu {

// How many of each vector's numbers, which ascend, are less than 0 + step, 1 + step and so on, less
// step. One search goes on from where the one before it ended, so that many are one pass.
template <typename Index, int64_t step>
class CountsBelowCall {
 public:
  explicit CountsBelowCall(const primset_primitive_call& call)
      : numbers_(call.operands[0]),
        counts_(data_at<int64_t>(call.results[0])),
        wanted_(call.results[0].sizes[call.results[0].rank - 1]) {}

  // Cut by sizes alone: of numbers that do not ascend each part finds others.
  void run(ThreadPool& pool) {
    constexpr int64_t kPart = 8192;
    const int64_t parts = (wanted_ + kPart - 1) / kPart;
    const auto vectors = static_cast<int64_t>(numbers_.offsets.size());
    in_parallel(pool, parts * vectors, [&](int64_t first, int64_t end) {
      for (int64_t i = first; i < end; ++i) {
        const int64_t vector = i / parts, from = i % parts * kPart;
        count(vector, from, std::min(from + kPart, wanted_));
      }
    });
  }

 private:
  void count(int64_t vector, int64_t from, int64_t end) const {
    const Index* const numbers = numbers_.data + numbers_.offsets[static_cast<size_t>(vector)];
    int64_t below = 0;
    int64_t* const counts = counts_ + vector * wanted_;
    for (int64_t k = from; k < end;) {
      below = beyond(numbers, below, k + step);
      int64_t stop = end;  // until there no other number is below the limit
      if (below < numbers_.size)
        stop = std::min<int64_t>(numbers[below * numbers_.stride] - step, end - 1) + 1;
      for (; k < stop; ++k) counts[k] = below - step;
    }
  }

  // The first number from `i` on that is not below the limit. It is mostly one of the next few;
  // else it is found by steps that double, and then by halves.
  int64_t beyond(const Index* numbers, int64_t i, int64_t limit) const {
    constexpr int64_t kFew = 8;
    const auto is_below = [&](int64_t at) { return numbers[at * numbers_.stride] < limit; };
    for (const int64_t few = std::min(i + kFew, numbers_.size); i < few; ++i)
      if (!is_below(i)) return i;
    int64_t ahead = kFew;
    while (i < numbers_.size && is_below(std::min(i + ahead, numbers_.size) - 1)) {
      i = std::min(i + ahead, numbers_.size);
      ahead *= 2;
    }
    for (ahead = std::min(ahead, numbers_.size - i); ahead > 1;) {
      const int64_t half = ahead / 2;
      if (is_below(i + half - 1)) {
        i += half;
        ahead -= half;
      } else {
        ahead = half;
      }
    }
    return i;
  }

  const StridedVectors<Index> numbers_;
  int64_t* const counts_;
  const int64_t wanted_;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_SPARSE_ROW_NUMBERS_H_
