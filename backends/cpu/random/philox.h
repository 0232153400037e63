// Philox 4x32-10 (Salmon, Moraes, Dror, Shaw, Parallel random numbers: as easy as 1, 2, 3, SC
// 2011), as the primitives of random numbers have it: the 64 bits of a counter are its two low
// words.
#ifndef PRIMSET_BACKENDS_CPU_RANDOM_PHILOX_H_
#define PRIMSET_BACKENDS_CPU_RANDOM_PHILOX_H_

#include <cstdint>

#include "backends/cpu/vector_code.h"

namespace primset_cpu {

struct Philox {
  uint64_t key;

  // The two high words of a counter's block. All words are in 64 bits, whose upper half is 0: so
  // vectors of products need no shuffles.
  PRIMSET_INLINE uint64_t high_words(uint64_t counter) const {
    constexpr uint64_t kMultiplier0 = 0xd2511f53, kMultiplier1 = 0xcd9e8d57;
    constexpr uint64_t kWeyl0 = 0x9e3779b9, kWeyl1 = 0xbb67ae85;  // golden ratio, sqrt(3) - 1
    constexpr uint64_t kWord = 0xffffffff;
    constexpr int kRounds = 10;
    uint64_t c0 = counter & kWord, c1 = counter >> 32, c2 = 0, c3 = 0;
    uint64_t key0 = key & kWord, key1 = key >> 32;
#pragma clang loop unroll(full)
    for (int round = 0; round < kRounds; ++round) {
      const uint64_t p0 = c0 * kMultiplier0, p1 = c2 * kMultiplier1;
      c0 = (p1 >> 32) ^ c1 ^ key0, c1 = p1 & kWord;
      c2 = (p0 >> 32) ^ c3 ^ key1, c3 = p0 & kWord;
      key0 = (key0 + kWeyl0) & kWord, key1 = (key1 + kWeyl1) & kWord;
    }
    return c2 | c3 << 32;
  }
};

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_RANDOM_PHILOX_H_
