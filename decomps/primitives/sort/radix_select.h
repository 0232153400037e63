// Selecting the k-th smallest number of a row without sorting it: by digits of its key.
#ifndef PRIMSET_DECOMPS_PRIMITIVES_SORT_RADIX_SELECT_H_
#define PRIMSET_DECOMPS_PRIMITIVES_SORT_RADIX_SELECT_H_

#include <tuple>

#include "decomps/engine/decomposition.h"

namespace primset::decomps::prim {

// The k-th smallest element along dim, counted from 1, NaN being the greatest, and where the first
// one equal to it stands. k is an i64 of x's shape without dim.
std::tuple<Val, Val> radix_select(const Val& x, const Val& k, int64_t dim);

}  // namespace primset::decomps::prim

#endif  // PRIMSET_DECOMPS_PRIMITIVES_SORT_RADIX_SELECT_H_
