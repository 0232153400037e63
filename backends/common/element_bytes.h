// The width of element types.
#ifndef PRIMSET_BACKENDS_COMMON_ELEMENT_BYTES_H_
#define PRIMSET_BACKENDS_COMMON_ELEMENT_BYTES_H_

#include <primset/plugin.h>

#include <cstdint>

namespace primset_backend {

// 0: there is no such type.
constexpr uint32_t element_bytes(uint32_t dtype) {
  switch (dtype) {
    case PRIMSET_BOOL:
    case PRIMSET_I8:
    case PRIMSET_U8:
      return 1;
    case PRIMSET_I16:
    case PRIMSET_U16:
    case PRIMSET_F16:
    case PRIMSET_BF16:
      return 2;
    case PRIMSET_I32:
    case PRIMSET_U32:
    case PRIMSET_F32:
    case PRIMSET_C32:
      return 4;
    case PRIMSET_I64:
    case PRIMSET_U64:
    case PRIMSET_F64:
    case PRIMSET_C64:
      return 8;
    case PRIMSET_C128:
      return 16;
    default:
      return dtype < 64 && PRIMSET_DTYPES_FLOAT8 >> dtype & 1 ? 1 : 0;
  }
}

}  // namespace primset_backend

#endif  // PRIMSET_BACKENDS_COMMON_ELEMENT_BYTES_H_
