// The order of a row of numbers: stably, digit by digit from the last to the first.
//
// Only the bits in which the numbers of a row differ are looked at: they are counted from the least
// one on, and those that are the same at the end of all of them are left out. Where such a number
// and a position fit into 64 bits together they are one word, and a short row of them is sorted as
// it is. Where the highest bits tell nearly all numbers of a row from each other, the row is in
// order by these first, and then what they do not tell apart is.
#ifndef PRIMSET_BACKENDS_CPU_SORT_ROW_ORDER_H_
#define PRIMSET_BACKENDS_CPU_SORT_ROW_ORDER_H_

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/cpu/linalg/support.h"
#include "backends/cpu/sort/rank_words.h"
#include "backends/cpu/vector_code.h"

namespace primset_cpu {

// What is known of a row's numbers before it is sorted.
struct NumberRange {
  uint64_t least = UINT64_MAX, greatest = 0;
  uint64_t differing = 0;  // the bits in which some are unlike the first
  bool ascending = true;
  bool told = true;  // keys are told from their numbers

  void add(uint64_t number, uint64_t first) {
    least = std::min(least, number), greatest = std::max(greatest, number);
    differing |= number ^ first;
  }
  void add(const NumberRange& behind, bool in_order, uint64_t first_unlike_first) {
    ascending = ascending && behind.ascending && in_order;
    told = told && behind.told;
    differing |= behind.differing | first_unlike_first;
    least = std::min(least, behind.least), greatest = std::max(greatest, behind.greatest);
  }

  // Bits at the end of all numbers that are the same, so that no order depends on them, and how
  // many there are of others.
  int same_bits() const { return differing == 0 ? 0 : std::countr_zero(differing); }
  int bits() const { return std::bit_width((greatest - least) >> same_bits()); }
  // A number of the row, as so many bits; and back.
  uint64_t packed(uint64_t number) const { return (number - least) >> same_bits(); }
  uint64_t unpacked(uint64_t packed) const { return (packed << same_bits()) + least; }
};

// A number above its position, in one word.
struct PackedEntry {
  uint64_t word;

  auto operator<=>(const PackedEntry&) const = default;

  static PackedEntry make(uint64_t number, uint64_t position, int shift) {
    return {number << shift | position};
  }
  uint64_t position(int shift) const { return word & ((uint64_t{1} << shift) - 1); }
  uint64_t number(int shift) const { return word >> shift; }
};

struct WideEntry {
  uint64_t of, at;

  auto operator<=>(const WideEntry&) const = default;

  static WideEntry make(uint64_t number, uint64_t position, int) { return {number, position}; }
  uint64_t position(int) const { return at; }
  uint64_t number(int) const { return of; }
};

// A number alone, whose position nobody asks for.
template <typename N>
struct NumberEntry {
  N of;

  auto operator<=>(const NumberEntry&) const = default;

  static NumberEntry make(uint64_t number, uint64_t, int) { return {static_cast<N>(number)}; }
  uint64_t position(int) const { return 0; }
  uint64_t number(int) const { return of; }
};

// f.operator()<Entry>() of the least entry that a number of so many bits fits, and beside it, where
// it is asked for, its position in a row.
template <typename F>
void with_entry(int bits, int64_t size, bool with_position, const F& f) {
  if (!with_position && bits <= 32) return f.template operator()<NumberEntry<uint32_t>>();
  if (!with_position) return f.template operator()<NumberEntry<uint64_t>>();
  if (bits + std::bit_width(static_cast<uint64_t>(size)) <= 64)
    return f.template operator()<PackedEntry>();
  f.template operator()<WideEntry>();
}

template <typename Entry>
class RowOrder {
 public:
  // Of `size` numbers, `bits` of each at most; `parts`: how many threads share the row.
  RowOrder(int64_t size, int bits, int64_t parts)
      : size_(size),
        bits_(bits),
        shift_(static_cast<int>(std::bit_width(static_cast<uint64_t>(size)))),
        parts_(parts) {
    if (size > kShortRow)
      memory_ = std::make_unique_for_overwrite<Entry[]>(static_cast<size_t>(2 * size));
    entries_ = memory_ ? memory_.get() : short_;
  }
  RowOrder(const RowOrder&) = delete;
  RowOrder& operator=(const RowOrder&) = delete;

  void set(int64_t i, uint64_t number) {
    entries_[static_cast<size_t>(i)] = Entry::make(number, static_cast<uint64_t>(i), shift_);
  }
  int64_t position(int64_t i) const {
    return static_cast<int64_t>(entries_[static_cast<size_t>(i)].position(shift_));
  }
  uint64_t number(int64_t i) const { return entries_[static_cast<size_t>(i)].number(shift_); }

  void sort(ThreadPool& pool) {
    if (size_ <= kShortRow) return sort_short();
    other_ = entries_ + size_;
    const int most = std::clamp(shift_ - kMoreElements, kLeastDigit, kGreatestDigit);
    // Numbers far apart are told from each other by so many of their highest bits.
    const int enough = (shift_ + kSpareBits + most - 1) / most * most;
    const int left_out = bits_ > enough && differ_from(bits_ - enough) ? bits_ - enough : 0;
    const int digits = (bits_ - left_out + most - 1) / most;
    for (int d = 0, done = left_out; d < digits; ++d) {
      const int width = (bits_ - done + digits - d - 1) / (digits - d);
      sort_digit(pool, done, width);
      done += width;
    }
    if (left_out) sort_runs(pool, left_out);
  }

 private:
  // To add up the counts of all digits takes little beside the elements where these are 2^3 as
  // many.
  static constexpr int kMoreElements = 3, kLeastDigit = 6, kGreatestDigit = 11;
  static constexpr int64_t kShortRow = 128;
  static constexpr int kSpareBits = 2;

  // No two words are equal, which have their positions.
  void sort_short() {
    if constexpr (std::is_same_v<Entry, PackedEntry>) {
      if (size_ <= kMostRankedWords) {
        entries_ = short_ + kMostRankedWords;
        vector_code(RankEntries(), static_cast<const Entry*>(short_), size_, entries_);
        return;
      }
    }
    std::ranges::sort(entries_, entries_ + size_);
  }

  struct RankEntries {
    PRIMSET_INLINE void operator()(const Entry* entries, int64_t size, Entry* to) const {
      rank_words(&entries->word, size, &to->word);
    }
  };

  int64_t begin_of(int64_t part) const { return size_ * part / parts_; }

  uint64_t prefix(int64_t i, int from) const { return number(i) >> from; }

  // Whether of a sample nearly all differ in the bits from `from` on.
  bool differ_from(int from) const {
    constexpr int64_t kSample = 64, kMostEqual = 2;
    std::array<uint64_t, kSample> sample;
    for (int64_t k = 0; k < kSample; ++k)
      sample[static_cast<size_t>(k)] = prefix(size_ * k / kSample, from);
    std::ranges::sort(sample);
    return std::ranges::distance(sample.begin(), std::ranges::unique(sample).begin()) >=
           kSample - kMostEqual;
  }

  // What is in order by the bits from `from` on, by the others too. Parts end where runs do.
  void sort_runs(ThreadPool& pool, int from) {
    std::vector<int64_t> cuts;
    for (int64_t p = 0; p <= parts_; ++p) cuts.push_back(end_of_run(begin_of(p), size_, from));
    const auto some = [&](int64_t first_part, int64_t end_part) {
      const int64_t end = cuts[static_cast<size_t>(end_part)];
      for (int64_t i = cuts[static_cast<size_t>(first_part)], behind = i; i < end; i = behind) {
        behind = end_of_run(i + 1, end, from);
        if (behind - i > 1) std::ranges::sort(entries_ + i, entries_ + behind);
      }
    };
    if (parts_ == 1) return some(0, 1);
    in_parallel(pool, parts_, some);
  }

  // The first place from `i` on that does not go on with the run before it.
  int64_t end_of_run(int64_t i, int64_t end, int from) const {
    while (i > 0 && i < end && prefix(i, from) == prefix(i - 1, from)) ++i;
    return i;
  }

  // Counts the digits of each part, and moves each part's entries to the places that are left to
  // them behind those of lesser digits, and of earlier parts.
  void sort_digit(ThreadPool& pool, int from, int width) {
    const size_t kinds = size_t{1} << width;
    counts_.assign(kinds * static_cast<size_t>(parts_), 0);
    const auto digit = [&](const Entry& e) {
      return static_cast<size_t>(e.number(shift_) >> from & (kinds - 1));
    };
    over_parts(
        pool,
        [&](int64_t first, int64_t end, uint32_t* counts) {
          for (int64_t i = first; i < end; ++i) ++counts[digit(entries_[static_cast<size_t>(i)])];
        },
        kinds);
    uint32_t sum = 0;
    for (size_t k = 0; k < kinds; ++k)
      for (size_t p = 0; p < static_cast<size_t>(parts_); ++p)
        sum += std::exchange(counts_[p * kinds + k], sum);
    over_parts(
        pool,
        [&](int64_t first, int64_t end, uint32_t* next) {
          for (int64_t i = first; i < end; ++i) {
            const Entry e = entries_[static_cast<size_t>(i)];
            other_[next[digit(e)]++] = e;
          }
        },
        kinds);
    std::swap(entries_, other_);
  }

  template <typename F>
  void over_parts(ThreadPool& pool, const F& f, size_t kinds) {
    const auto some = [&](int64_t first, int64_t end) {
      for (int64_t p = first; p < end; ++p)
        f(begin_of(p), begin_of(p + 1), counts_.data() + static_cast<size_t>(p) * kinds);
    };
    if (parts_ == 1) return some(0, 1);
    in_parallel(pool, parts_, some);
  }

  const int64_t size_;
  const int bits_, shift_;
  const int64_t parts_;
  Entry short_[kShortRow];
  std::unique_ptr<Entry[]> memory_;
  Entry *entries_, *other_ = nullptr;
  std::vector<uint32_t> counts_;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_SORT_ROW_ORDER_H_
