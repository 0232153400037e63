// Keys of a sort as unsigned integers of the same order, and back.
#ifndef PRIMSET_BACKENDS_CPU_SORT_KEY_ORDER_H_
#define PRIMSET_BACKENDS_CPU_SORT_KEY_ORDER_H_

#include <primset/plugin.h>

#include <cstdint>
#include <limits>

#include "backends/cpu/vector_code.h"

namespace primset_cpu {

enum class KeyKind : uint8_t { unsigned_integer, signed_integer, floating };

// Of elements whose bits are a U. NaNs are one number behind all others, and -0 is 0: such keys
// cannot be told from their numbers.
template <typename U, KeyKind kKind>
struct KeyOrder {
  static constexpr U kSign = static_cast<U>(U{1} << (8 * sizeof(U) - 1));

  U infinity = 0;  // of floats, whose bits beyond it are NaNs
  bool descending = false;

  PRIMSET_INLINE bool is_told(U bits) const {
    if constexpr (kKind != KeyKind::floating) return true;
    return bits != kSign && static_cast<U>(bits & ~kSign) <= infinity;
  }
  PRIMSET_INLINE U number(U bits) const {
    const U n = ascending_number(bits);
    return descending ? static_cast<U>(~n) : n;
  }
  // pre: is_told() of the result
  PRIMSET_INLINE U bits(U number) const {
    const U n = descending ? static_cast<U>(~number) : number;
    if constexpr (kKind == KeyKind::unsigned_integer) return n;
    if constexpr (kKind == KeyKind::signed_integer) return n ^ kSign;
    return static_cast<U>(n & kSign ? n ^ kSign : ~n);
  }

 private:
  PRIMSET_INLINE U ascending_number(U bits) const {
    if constexpr (kKind == KeyKind::unsigned_integer) return bits;
    if constexpr (kKind == KeyKind::signed_integer) return bits ^ kSign;
    const U magnitude = bits & static_cast<U>(~kSign);
    if (magnitude > infinity) return std::numeric_limits<U>::max();
    if (magnitude == 0) return kSign;
    return static_cast<U>(bits & kSign ? ~bits : bits | kSign);
  }
};

// The keys of an element type.
template <typename U, KeyKind kKind>
struct Keys {
  U infinity = 0;
};

// f(Keys<U, kKind>) of the element type; false where it has no order.
template <typename F>
bool with_key_type(uint32_t dtype, const F& f) {
  const auto call = [&](auto keys) { return f(keys), true; };
  switch (dtype) {
    case PRIMSET_BOOL:
    case PRIMSET_U8:
      return call(Keys<uint8_t, KeyKind::unsigned_integer>());
    case PRIMSET_U16:
      return call(Keys<uint16_t, KeyKind::unsigned_integer>());
    case PRIMSET_U32:
      return call(Keys<uint32_t, KeyKind::unsigned_integer>());
    case PRIMSET_U64:
      return call(Keys<uint64_t, KeyKind::unsigned_integer>());
    case PRIMSET_I8:
      return call(Keys<uint8_t, KeyKind::signed_integer>());
    case PRIMSET_I16:
      return call(Keys<uint16_t, KeyKind::signed_integer>());
    case PRIMSET_I32:
      return call(Keys<uint32_t, KeyKind::signed_integer>());
    case PRIMSET_I64:
      return call(Keys<uint64_t, KeyKind::signed_integer>());
    case PRIMSET_F16:
      return call(Keys<uint16_t, KeyKind::floating>{0x7c00});
    case PRIMSET_BF16:
      return call(Keys<uint16_t, KeyKind::floating>{0x7f80});
    case PRIMSET_F32:
      return call(Keys<uint32_t, KeyKind::floating>{0x7f800000});
    case PRIMSET_F64:
      return call(Keys<uint64_t, KeyKind::floating>{0x7ff0000000000000});
    default:
      return false;
  }
}

inline bool is_key_type(uint32_t dtype) {
  return with_key_type(dtype, [](auto) {});
}

}  // namespace primset_cpu

#endif  // PRIMSET_BACKENDS_CPU_SORT_KEY_ORDER_H_
