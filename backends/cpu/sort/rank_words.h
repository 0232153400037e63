// Few words in order, by counting for each how many are less.
#ifndef PRIMSET_BACKENDS_CPU_SORT_RANK_WORDS_H_
#define PRIMSET_BACKENDS_CPU_SORT_RANK_WORDS_H_

#include <algorithm>
#include <cstdint>

#include "backends/cpu/vector_code.h"

namespace primset_cpu {

// So many words take less time than sorting them.
inline constexpr int64_t kMostRankedWords = 32;

// Words of a vector at a time, against all; what is behind the last one counts as it.
// pre: size > 0, no two words are equal
PRIMSET_INLINE void rank_words(const uint64_t* words, int64_t size, uint64_t* to) {
  constexpr int64_t kLanes = 8;
  for (int64_t first = 0; first < size; first += kLanes) {
    uint64_t own[kLanes], rank[kLanes] = {};
    for (int64_t k = 0; k < kLanes; ++k) own[k] = words[std::min(first + k, size - 1)];
    for (int64_t i = 0; i < size; ++i)
      for (int64_t k = 0; k < kLanes; ++k) rank[k] += words[i] < own[k];
    for (int64_t k = 0; k < kLanes; ++k) to[rank[k]] = own[k];
  }
}

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_SORT_RANK_WORDS_H_
