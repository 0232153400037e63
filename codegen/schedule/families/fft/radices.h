// How a length is divided into transforms that registers hold, and whether it can be.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FFT_RADICES_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FFT_RADICES_H_

#include <cstdint>
#include <vector>

namespace primset::schedule {

// Is it a product of 2, 3, 5 and 7?
bool is_smooth(int64_t n);

// Factors 8, 7, 5, 4, 3 and 2 of a smooth length; none of 1.
std::vector<int64_t> radices_of(int64_t n);

// The greatest power of two, `most` at most, that divides n.
int64_t power_of_two_in(int64_t n, int64_t most);

// Two factors of n next to each other, the smaller one first, both multiples of `unit`; {0, 0}:
// there are none.
struct Split {
  int64_t first = 0, second = 0;
};
Split split_near_root(int64_t n, int64_t unit);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_FFT_RADICES_H_
