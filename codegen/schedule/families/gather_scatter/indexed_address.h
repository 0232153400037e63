// Where a scatter's indices say that an update goes.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_GATHER_SCATTER_INDEXED_ADDRESS_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_GATHER_SCATTER_INDEXED_ADDRESS_H_

#include "codegen/schedule/element/element.h"
#include "codegen/schedule/loops/frame.h"

namespace primset::schedule {

// The part of an update's address that its indices make, at the current position of the first
// loops, which are those of the indices; `strides` has one number for each of the node's dims.
// Indices are checked, unless they have been or the node promises that they are in bounds: `fits`
// then says whether all are.
Affine indexed_address(Frame& f, ElementEmitter& e, const ValueEnvironment& values,
                       const prims::Node& scatter, const SymInts& strides, kir::Value& fits,
                       bool checked = true);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_GATHER_SCATTER_INDEXED_ADDRESS_H_
