// Machines without 64-bit integers. ATen's indices and counts are i64; what a graph computes of
// them between its tensors mostly fits 32 bits, as sizes do, and is computed in i32 there.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_INTEGERS_NARROW_INTEGERS_H_
#define PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_INTEGERS_NARROW_INTEGERS_H_

#include "prims/graph/graph.h"

namespace primset::schedule {

// i64 becomes i32 and u64 u32, with the same values: that of each must lie in a range that fits for
// all sizes that a plan serves, which records guards. Throws Error{not_implemented} where one may
// not; what a check alone shows need not. Counters of loops, starts of slices and counts of set_dim
// are i32 behind it.
void narrow_integers(prims::Graph& graph);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_INTEGERS_NARROW_INTEGERS_H_
