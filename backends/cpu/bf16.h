// Elements of f32 and, as uint16_t, of bf16, which loops compute in f32.
#ifndef PRIMSET_BACKENDS_CPU_BF16_H_
#define PRIMSET_BACKENDS_CPU_BF16_H_

#include <bit>
#include <cstdint>

#include "backends/cpu/vector_code.h"

namespace primset_cpu {

PRIMSET_INLINE float float_of(float x) {
  return x;
}
PRIMSET_INLINE float float_of(uint16_t bf16) {
  return std::bit_cast<float>(uint32_t{bf16} << 16);
}

PRIMSET_INLINE void put(float x, float& to) {
  to = x;
}
// To the nearest, ties to even.
PRIMSET_INLINE void put(float x, uint16_t& to) {
  const auto u = std::bit_cast<uint32_t>(x);
  const uint32_t rounded = (u + 0x7fff + ((u >> 16) & 1)) >> 16;
  to = static_cast<uint16_t>(x != x ? (u >> 16) | 0x40 : rounded);
}

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_BF16_H_
