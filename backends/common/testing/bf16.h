// bf16 on the host, for tests: the upper half of an f32.
#ifndef PRIMSET_BACKENDS_COMMON_TESTING_BF16_H_
#define PRIMSET_BACKENDS_COMMON_TESTING_BF16_H_

#include <bit>
#include <cstdint>

namespace primset_backend_test {

// To the nearest, ties to even. Of finite numbers and infinities.
inline uint16_t to_bf16(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

inline float from_bf16(uint16_t x) {
  return std::bit_cast<float>(uint32_t{x} << 16);
}

}  // namespace primset_backend_test

#endif  // PRIMSET_BACKENDS_COMMON_TESTING_BF16_H_
