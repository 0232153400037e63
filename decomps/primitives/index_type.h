// What decompositions compute indices and counts in, beside those that ATen gives back.
#ifndef PRIMSET_DECOMPS_PRIMITIVES_INDEX_TYPE_H_
#define PRIMSET_DECOMPS_PRIMITIVES_INDEX_TYPE_H_

#include "decomps/engine/tracer.h"

namespace primset::decomps {

// i64, or i32 on a device without it, for those that nothing in the graph bounds: what a loop
// counts, a place that an i32 or a float names.
inline DType index_type(const Tracer& t) {
  return t.device().i64 ? DType::i64 : DType::i32;
}

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_PRIMITIVES_INDEX_TYPE_H_
