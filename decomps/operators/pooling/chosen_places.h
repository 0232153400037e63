// Pooling that remembers which element of each plane it chose, and what goes back there.
#ifndef PRIMSET_DECOMPS_OPERATORS_POOLING_CHOSEN_PLACES_H_
#define PRIMSET_DECOMPS_OPERATORS_POOLING_CHOSEN_PLACES_H_

#include "decomps/engine/engine.h"

namespace primset::decomps {

// Zeros with `updates` added or set at the indices, which count the elements of the last dims that
// `sizes` has; a plane to the batch's element that the updates are of.
Val at_chosen_places(Prim kind, const Val& updates, const Val& indices, const SymInts& sizes);

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_OPERATORS_POOLING_CHOSEN_PLACES_H_
