// Indices of gathers and scatters that the device computes itself.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_NATIVE_BOUNDS_H_
#define PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_NATIVE_BOUNDS_H_

#include "codegen/schedule/legalize/legalize.h"

namespace primset::schedule {

// The graph with a `check` before each native gather or scatter whose indices may lie out of
// bounds. A kernel checks what it reads; a native primitive reads zeros there and writes nothing,
// and has no way of saying so.
prims::Graph with_bounds_checks(const prims::Graph& graph, const IsNative& native);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_NATIVE_BOUNDS_H_
