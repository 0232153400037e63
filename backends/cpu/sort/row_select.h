// The k least of a row of numbers, found by digits: a row is counted by its numbers' highest digit,
// and only what shares the digit of the k-th is looked at again.
#ifndef PRIMSET_BACKENDS_CPU_SORT_ROW_SELECT_H_
#define PRIMSET_BACKENDS_CPU_SORT_ROW_SELECT_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "backends/cpu/vector_code.h"

namespace primset_cpu {

template <typename U>
class RowSelect {
 public:
  // The number of which fewer than k of the row are smaller, and k or more not greater. Where k is
  // small, what is greater than that of a part of the row is left out first.
  // pre: 1 <= k <= size
  U kth(std::span<const U> row, int64_t k) {
    if (2 * kParts * static_cast<uint64_t>(k) > row.size()) return kth_by_digits(row, k);
    find_up_to(row, kth_by_digits(row.first(row.size() / kParts), k));
    if (kept_.size() < found_) kept_.resize(found_);
    for (size_t i = 0; i < found_; ++i) kept_[i] = row[positions_[i]];
    return kth_by_digits({kept_.data(), found_}, k);
  }

  // The positions of the k least, of equal ones the first, in ascending order of positions.
  std::span<const uint32_t> positions(std::span<const U> row, int64_t k) {
    if (k == 0) return {};
    const U last = kth(row, k);
    find_up_to(row, last);
    const std::span found(positions_.data(), found_);
    const auto below = std::ranges::count_if(found, [&](uint32_t i) { return row[i] < last; });
    int64_t equal = k - below;  // so many of those that equal the last are among the k
    const auto is_left_out = [&](uint32_t i) { return row[i] == last && equal-- <= 0; };
    return {found.begin(), std::remove_if(found.begin(), found.end(), is_left_out)};
  }

 private:
  static constexpr int kLeastDigit = 5, kGreatestDigit = 11;
  static constexpr size_t kFew = 32;
  static constexpr size_t kParts = 16;

  struct Range {
    PRIMSET_INLINE void operator()(std::span<const U> row, U* least, U* greatest) const {
      U lo = std::numeric_limits<U>::max(), hi = 0;
      for (const U n : row) lo = std::min(lo, n), hi = std::max(hi, n);
      *least = lo, *greatest = hi;
    }
  };
  // Most blocks of a row have nothing that is wanted, which vectors see.
  struct UpTo {
    PRIMSET_INLINE void operator()(std::span<const U> row, U limit, uint32_t* positions,
                                   size_t* found) const {
      constexpr size_t kBlock = 64;
      size_t n = 0;
      for (size_t first = 0; first < row.size(); first += kBlock) {
        const size_t end = std::min(first + kBlock, row.size());
        bool any = false;
        for (size_t i = first; i < end; ++i) any |= row[i] <= limit;
        if (!any) continue;
        for (size_t i = first; i < end; ++i) {
          positions[n] = static_cast<uint32_t>(i);
          n += row[i] <= limit;
        }
      }
      *found = n;
    }
  };

  void find_up_to(std::span<const U> row, U limit) {
    if (positions_.size() < row.size()) positions_.resize(row.size());
    vector_code(UpTo(), row, limit, positions_.data(), &found_);
  }

  U kth_by_digits(std::span<const U> row, int64_t k) {
    U least, greatest;
    vector_code(Range(), row, &least, &greatest);
    auto rank = static_cast<uint64_t>(k - 1);
    int bits = std::bit_width(static_cast<U>(greatest - least));  // in which what is left differs
    const int digit_bits =
        std::clamp(static_cast<int>(std::bit_width(row.size())) - 1, kLeastDigit, kGreatestDigit);
    for (std::span<const U> left = row; bits > 0;) {
      if (left.size() <= kFew) return kth_of_few(left, rank);
      const int digit = std::min(bits, digit_bits);
      bits -= digit;
      const size_t chosen = digit_of(left, least, bits, size_t{1} << digit, rank);
      least = static_cast<U>(least + (static_cast<U>(chosen) << bits));
      if (bits > 0 && counts_[chosen] < left.size()) left = with_digit(left, least, bits);
    }
    return least;
  }

  U kth_of_few(std::span<const U> left, uint64_t rank) {
    std::array<U, kFew> few;
    std::ranges::copy(left, few.begin());
    std::nth_element(few.begin(), few.begin() + rank, few.begin() + left.size());
    return few[rank];
  }

  // The digit of the number of this rank, of those `bits` up from `least`; the rank is left within
  // the numbers of that digit.
  size_t digit_of(std::span<const U> left, U least, int bits, size_t digits, uint64_t& rank) {
    std::fill_n(counts_.begin(), digits, 0);
    for (const U n : left) ++counts_[static_cast<size_t>(static_cast<U>(n - least) >> bits)];
    size_t digit = 0;
    while (rank >= counts_[digit]) rank -= counts_[digit++];
    return digit;
  }

  // The numbers from `least` on that differ from it in the lowest bits alone.
  std::span<const U> with_digit(std::span<const U> left, U least, int bits) {
    if (kept_.size() < left.size()) kept_.resize(left.size());
    size_t kept = 0;
    for (const U n : left) {
      kept_[kept] = n;
      kept += static_cast<U>(n - least) >> bits == 0;
    }
    return {kept_.data(), kept};
  }

  std::array<uint32_t, size_t{1} << kGreatestDigit> counts_;
  std::vector<U> kept_;
  std::vector<uint32_t> positions_;
  size_t found_ = 0;  // positions that are set
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_SORT_ROW_SELECT_H_
