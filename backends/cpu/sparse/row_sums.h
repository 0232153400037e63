// Where the products of one row of a sparse product are added up by their columns, and taken from
// in order: a row of all columns, or a hash table of those that come up where matrices are wide.
#ifndef PRIMSET_BACKENDS_CPU_SPARSE_ROW_SUMS_H_
#define PRIMSET_BACKENDS_CPU_SPARSE_ROW_SUMS_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "backends/cpu/sparse/sampled_matmul.h"

namespace primset_cpu {

// A bit for each column tells where products are, whatever they add up to, and one for each word of
// these bits where to look for them.
template <typename T>
class DenseRowSums {
 public:
  explicit DenseRowSums(int64_t columns)
      : sums_(static_cast<size_t>(columns)),
        columns_(sums_.size() / 64 + 1),
        words_(columns_.size() / 64 + 1) {}

  void begin(int64_t) {}

  PRIMSET_INLINE void add(int64_t column, T x, T y) {
    const auto c = static_cast<size_t>(column);
    add_product(sums_[c], x, y);
    columns_[c / 64] |= uint64_t{1} << (c % 64);
    words_[c / 4096] |= uint64_t{1} << (c / 64 % 64);
  }

  // f(column, sum) of each column in order; there are none then.
  template <typename F>
  void take(const F& f) {
    for (size_t i = 0; i < words_.size(); ++i) {
      for_each_bit(words_[i], i, [&](size_t word) {
        for_each_bit(columns_[word], word, [&](size_t c) {
          f(static_cast<int64_t>(c), sums_[c]);
          sums_[c] = T{};
        });
      });
    }
  }

 private:
  template <typename F>
  static void for_each_bit(uint64_t& bits, size_t word, const F& f) {
    for (; bits; bits &= bits - 1) f(word * 64 + static_cast<size_t>(std::countr_zero(bits)));
  }

  std::vector<T> sums_;
  std::vector<uint64_t> columns_, words_;
};

template <typename T>
class HashedRowSums {
 public:
  explicit HashedRowSums(int64_t most)
      : slots_(slots_for(most)), listed_(static_cast<size_t>(most)) {}

  // A row in which at most so many columns come up. At least half of the slots stay free.
  void begin(int64_t most) {
    const size_t size = slots_for(most);
    std::fill_n(slots_.begin(), size, Slot{});
    mask_ = size - 1, count_ = 0;
  }

  PRIMSET_INLINE void add(int64_t column, T x, T y) {
    Slot& s = slot(column);
    if (s.column < 0) s.column = listed_[count_++] = column;
    add_product(s.sum, x, y);
  }

  template <typename F>
  void take(const F& f) {
    std::sort(listed_.begin(), listed_.begin() + static_cast<ptrdiff_t>(count_));
    for (size_t i = 0; i < count_; ++i) f(listed_[i], slot(listed_[i]).sum);
  }

 private:
  struct Slot {
    int64_t column = -1;
    T sum{};
  };

  static size_t slots_for(int64_t most) { return std::bit_ceil(2 * static_cast<size_t>(most) + 1); }

  // The column's, or the free one where it belongs: its bits multiplied by 2^64 over the golden
  // ratio (Knuth, The Art of Computer Programming, volume 3, 6.4), the next where that is taken.
  Slot& slot(int64_t column) {
    const uint64_t mixed = static_cast<uint64_t>(column) * 0x9E3779B97F4A7C15u;
    size_t at = static_cast<size_t>(mixed >> 32) & mask_;
    while (slots_[at].column >= 0 && slots_[at].column != column) at = (at + 1) & mask_;
    return slots_[at];
  }

  std::vector<Slot> slots_;
  std::vector<int64_t> listed_;
  size_t mask_ = 0, count_ = 0;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_SPARSE_ROW_SUMS_H_
