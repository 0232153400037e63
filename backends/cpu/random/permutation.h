// The primitive random_permutation: 0, 1, ... n - 1 in the order of a random key of 64 bits each.
//
// An entry has in one word as many of a key's highest bits as there is room for above its number.
// Keys are uniform, so these bits cut them into buckets that are about as large: first into some
// that the cache holds, and each of those so finely that nearly all is in order. The few entries
// that the bits do not tell apart are ordered by their whole keys, which are computed once more.
#ifndef PRIMSET_BACKENDS_CPU_RANDOM_PERMUTATION_H_
#define PRIMSET_BACKENDS_CPU_RANDOM_PERMUTATION_H_

#include <array>
#include <bit>
#include <memory>
#include <vector>

#include "backends/cpu/linalg/support.h"
#include "backends/cpu/random/philox.h"
#include "backends/cpu/sort/row_range.h"

namespace primset_cpu {

class RandomPermutation {
 public:
  // `number_bits`: how many bits of an entry its number has, of bits_of_numbers() at least.
  RandomPermutation(uint64_t key, uint64_t offset, int64_t size, int64_t* to, int number_bits)
      : philox_{key},
        offset_(offset),
        size_(size),
        to_(to),
        number_bits_(number_bits),
        bucket_bits_(
            std::clamp(static_cast<int>(std::bit_width(static_cast<uint64_t>(size) >> kBucketBits)),
                       1, kMostDigitBits)) {}

  static int bits_of_numbers(int64_t size) {
    return std::max(1, static_cast<int>(std::bit_width(static_cast<uint64_t>(size))));
  }

  void run(ThreadPool& pool) {
    if (size_ == 0) return;
    const int64_t parts = size_ < kLongRow ? 1 : pool.size();
    cut_ = std::make_unique_for_overwrite<uint64_t[]>(static_cast<size_t>(size_));
    make_buckets(pool, parts);
    const auto some = [&](int64_t first, int64_t end) { order_buckets(first, end); };
    if (parts == 1) return some(0, int64_t{1} << bucket_bits_);
    in_parallel(pool, int64_t{1} << bucket_bits_, some);
  }

 private:
  static constexpr int kBucketBits = 12;     // entries of a bucket, while buckets are not too many
  static constexpr int kMostDigitBits = 11;  // which so many counts and places to write allow
  using Counts = std::array<uint32_t, size_t{1} << kMostDigitBits>;

  struct FillEntries {
    PRIMSET_INLINE void operator()(const Philox philox, uint64_t offset, int64_t first, int64_t end,
                                   int number_bits, uint64_t* __restrict entries) const {
      for (int64_t i = first; i < end; ++i) {
        const auto number = static_cast<uint64_t>(i);
        const uint64_t key = philox.high_words(offset + number);
        entries[i] = (key >> number_bits << number_bits) | number;
      }
    }
  };

  // Entries are made where numbers will be, and moved behind those of lesser buckets and of earlier
  // parts.
  void make_buckets(ThreadPool& pool, int64_t parts) {
    auto* const entries = reinterpret_cast<uint64_t*>(to_);
    const int shift = 64 - bucket_bits_;
    std::vector<Counts> counts(static_cast<size_t>(parts));
    over_row(pool, size_, parts, [&](int64_t p, int64_t first, int64_t end) {
      constexpr int64_t kChunk = 1 << 11;  // is in the nearest cache when it is counted
      Counts& own = counts[static_cast<size_t>(p)];
      for (int64_t i = first; i < end; i += kChunk) {
        const int64_t stop = std::min(i + kChunk, end);
        vector_code(FillEntries(), philox_, offset_, i, stop, number_bits_, entries);
        for (int64_t k = i; k < stop; ++k) ++own[entries[k] >> shift];
      }
    });
    uint32_t sum = 0;
    for (size_t b = 0; b < size_t{1} << bucket_bits_; ++b) {
      for (Counts& part : counts) sum += std::exchange(part[b], sum);
      ends_[b] = sum;
    }
    over_row(pool, size_, parts, [&](int64_t p, int64_t first, int64_t end) {
      Counts& next = counts[static_cast<size_t>(p)];
      for (int64_t i = first; i < end; ++i) cut_[next[entries[i] >> shift]++] = entries[i];
    });
  }

  void order_buckets(int64_t first, int64_t end) const {
    std::vector<uint64_t> sorted;
    for (int64_t b = first; b < end; ++b) {
      const uint32_t begin = b == 0 ? 0 : ends_[static_cast<size_t>(b) - 1];
      const size_t size = ends_[static_cast<size_t>(b)] - begin;
      if (size == 0) continue;
      sorted.resize(std::max(sorted.size(), size));
      place(cut_.get() + begin, size, sorted.data());
      sort_neighbours(sorted.data(), size);
      settle_equal(sorted.data(), size);
      const uint64_t numbers = (uint64_t{1} << number_bits_) - 1;
      for (size_t i = 0; i < size; ++i) to_[begin + i] = static_cast<int64_t>(sorted[i] & numbers);
    }
  }

  // A bucket's entries by the next bits, of which there are about as many values.
  void place(const uint64_t* entries, size_t size, uint64_t* to) const {
    const int bits = std::clamp(static_cast<int>(std::bit_width(size)) - 1, 1, kMostDigitBits);
    const auto digit = [&](uint64_t entry) { return entry << bucket_bits_ >> (64 - bits); };
    Counts next;
    std::fill_n(next.begin(), size_t{1} << bits, 0);
    for (size_t i = 0; i < size; ++i) ++next[digit(entries[i])];
    uint32_t sum = 0;
    for (size_t d = 0; d < size_t{1} << bits; ++d) sum += std::exchange(next[d], sum);
    for (size_t i = 0; i < size; ++i) to[next[digit(entries[i])]++] = entries[i];
  }

  // By insertion: all are near their places.
  static void sort_neighbours(uint64_t* entries, size_t size) {
    for (size_t i = 1; i < size; ++i) {
      const uint64_t e = entries[i];
      size_t at = i;
      for (; at > 0 && entries[at - 1] > e; --at) entries[at] = entries[at - 1];
      entries[at] = e;
    }
  }

  void settle_equal(uint64_t* entries, size_t size) const {
    const uint64_t numbers = (uint64_t{1} << number_bits_) - 1;
    const auto is_equal = [&](size_t i) { return (entries[i] ^ entries[i - 1]) <= numbers; };
    const auto by_key = [&](uint64_t entry) {
      return std::pair(philox_.high_words(offset_ + (entry & numbers)), entry);
    };
    for (size_t i = 1; i < size; ++i) {
      if (!is_equal(i)) continue;
      size_t end = i + 1;
      while (end < size && is_equal(end)) ++end;
      std::ranges::sort(entries + i - 1, entries + end, {}, by_key);
      i = end - 1;
    }
  }

  const Philox philox_;
  const uint64_t offset_;
  const int64_t size_;
  int64_t* const to_;
  const int number_bits_, bucket_bits_;
  std::unique_ptr<uint64_t[]> cut_;
  Counts ends_;
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_RANDOM_PERMUTATION_H_
