// Machines whose kernels have no f64. What an operator computes in f64 for the sake of digits alone
// (a bias correction, the norm of a column, a comparison with a tolerance) is computed in f32 there.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_NARROW_FLOATS_H_
#define PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_NARROW_FLOATS_H_

#include "prims/graph/graph.h"

namespace primset::schedule {

// f32 for f64, c64 for c128, others as they are.
DType narrow_float(DType t);

// Every value but the inputs and outputs, which are tensors that the machine has or has not.
void narrow_floats(prims::Graph& graph);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_NARROW_FLOATS_H_
