// Sums of squares that are added up in f64, whatever f64 costs.
#ifndef PRIMSET_DECOMPS_PRIMITIVES_WIDE_SUMS_H_
#define PRIMSET_DECOMPS_PRIMITIVES_WIDE_SUMS_H_

#include <cstdint>
#include <vector>

#include "decomps/engine/tracer.h"

namespace primset::decomps::prim {

// Squares of f32 may be beyond f32, so the numbers are scaled by their greatest first. That reads
// them twice, which costs nothing where a kernel holds a row in registers. Longer rows, and those
// across memory, come from memory again: that takes longer than f64 arithmetic does, even where a
// device has a 64th of f32's (docs/decisions/wide_accumulation.md). A guard, where sizes are
// symbolic.
bool sums_in_f64(const Val& x, const std::vector<int64_t>& dims);

}  // namespace primset::decomps::prim

#endif  // PRIMSET_DECOMPS_PRIMITIVES_WIDE_SUMS_H_
