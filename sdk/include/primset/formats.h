// ATen's Layout and MemoryFormat, with ATen's codes.
#ifndef PRIMSET_FORMATS_H_
#define PRIMSET_FORMATS_H_

#include <cstdint>

namespace primset {

enum class Layout : uint8_t {
  strided = 0,
  sparse_coo = 1,
  sparse_csr = 2,
  sparse_csc = 4,
  sparse_bsr = 5,
  sparse_bsc = 6,
};

enum class MemoryFormat : uint8_t {
  contiguous = 0,
  preserve = 1,
  channels_last = 2,
  channels_last_3d = 3,
};

}  // namespace primset

#endif  // PRIMSET_FORMATS_H_
