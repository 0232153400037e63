// The remainder of a division that rounds down: it has the divisor's sign, as in Python.
#ifndef PRIMSET_SDK_BASE_FLOOR_MOD_H_
#define PRIMSET_SDK_BASE_FLOOR_MOD_H_

#include <cstdint>

namespace primset {

// Of a divisor of 0: 0. Nothing overflows: of the least integer by -1, which has no quotient, it is
// 0.
constexpr int64_t floor_mod(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return 0;
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

}  // namespace primset

#endif  // PRIMSET_SDK_BASE_FLOOR_MOD_H_
