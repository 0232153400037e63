// map, reduce and scan for a device that takes no kernels, whose primitives work on whole arrays.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_SCALAR_REGIONS_H_
#define PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_SCALAR_REGIONS_H_

#include "prims/graph/graph.h"

namespace primset::schedule {

// The graph with each scalar program applied to arrays: a map's to all elements at once, a combiner
// to one slice after the other, in a loop. Where the program branches, both branches are computed
// and selected from; where it loops, the loop goes on until it has ended for every element.
prims::Graph expand_scalar_regions(const prims::Graph& graph);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_SCALAR_REGIONS_H_
