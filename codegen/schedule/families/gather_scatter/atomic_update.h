// How the threads of a SIMT device combine updates of one place.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_GATHER_SCATTER_ATOMIC_UPDATE_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_GATHER_SCATTER_ATOMIC_UPDATE_H_

#include "codegen/schedule/element/element_value.h"
#include "codegen/schedule/loops/frame.h"

namespace primset::schedule {

// Whether a scatter of this kind (scatter_add, _mul, _min, _max) can be atomic on the device. Its
// elements then have at most 64 bits, or are added by their parts.
bool has_atomic_update(const kir::TargetModel& target, prims::Prim scatter, DType dtype);

// Combines `update` into the element at `address`: by an instruction where there is one, else by
// comparing and exchanging until no other thread came in between. Of one lane.
void atomic_update(Frame& f, prims::Prim scatter, DType dtype, BufferId target,
                   const Affine& address, const ElementValue& update);

// The element-wise primitive that such a scatter combines by.
prims::Prim combining(prims::Prim scatter);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_GATHER_SCATTER_ATOMIC_UPDATE_H_
