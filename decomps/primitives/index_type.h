// What decompositions compute indices and counts in, beside those that ATen gives back.
#ifndef PRIMSET_DECOMPS_PRIMITIVES_INDEX_TYPE_H_
#define PRIMSET_DECOMPS_PRIMITIVES_INDEX_TYPE_H_

#include <limits>

#include "decomps/engine/tracer.h"

namespace primset::decomps {

// i64, or i32 on a device without it, for those that nothing in the graph bounds: what a loop
// counts, a place that an i32 or a float names.
inline DType index_type(const Tracer& t) {
  return t.device().i64 ? DType::i64 : DType::i32;
}

// What numbers up to a size are held in: half the memory where that is enough.
inline DType place_type(const SymInt& size) {
  return size <= SymInt(std::numeric_limits<int32_t>::max()) ? DType::i32 : DType::i64;
}

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_PRIMITIVES_INDEX_TYPE_H_
