// The numbers that Sobol sequences begin with, as Joe and Kuo chose them (SIAM J. Sci. Comput. 30,
// 2008) and PyTorch has them: pack_direction_numbers.py says where they come from.
#ifndef PRIMSET_DECOMPS_OPERATORS_RANDOM_DIRECTION_NUMBERS_H_
#define PRIMSET_DECOMPS_OPERATORS_RANDOM_DIRECTION_NUMBERS_H_

#include <cstdint>
#include <vector>

namespace primset::decomps {

inline constexpr int64_t kSobolDims = 21201;
inline constexpr int64_t kSobolBits = 30;  // as many direction numbers has a dim

// Of one dim: the first direction numbers m_1 to m_s, odd and m_i below 2^i, and the primitive
// polynomial x^s + a_1 x^(s-1) + ... + a_(s-1) x + 1 that the others follow by, a_1 the highest
// bit.
struct SobolBeginning {
  uint32_t polynomial = 0;
  std::vector<uint32_t> numbers;
};

// Of the second dim to the one of this number, which is at most kSobolDims; the first dim's numbers
// are all 1.
std::vector<SobolBeginning> sobol_beginnings(int64_t dims);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_OPERATORS_RANDOM_DIRECTION_NUMBERS_H_
