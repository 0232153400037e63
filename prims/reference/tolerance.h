// How far a device's result may be from the exact one, per primitive and dtype (specs/prims).
#ifndef PRIMSET_PRIMS_REFERENCE_TOLERANCE_H_
#define PRIMSET_PRIMS_REFERENCE_TOLERANCE_H_

#include "prims/graph/graph.h"
#include "specs/bundle/tolerance.h"

namespace primset::prims::reference {

using specs::Tolerance;
using specs::ToleranceKind;

Tolerance tolerance(Prim prim, DType dtype);

// The dtype that the primitive computes in before it rounds to `dtype`: f32 for halves where the
// spec says "opmath".
DType compute_dtype(Prim prim, DType dtype);

}  // namespace primset::prims::reference

#endif  // PRIMSET_PRIMS_REFERENCE_TOLERANCE_H_
