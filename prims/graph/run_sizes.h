// Sizes that only a run knows: a guard on one chooses between alternatives that are all correct, so
// nothing may rely on it.
#ifndef PRIMSET_PRIMS_GRAPH_RUN_SIZES_H_
#define PRIMSET_PRIMS_GRAPH_RUN_SIZES_H_

#include "prims/graph/graph.h"

namespace primset::prims {

// Does s depend on a size that a set_dim of the graph has from a run?
bool depends_on_run(const Graph& g, const SymInt& s);

}  // namespace primset::prims

#endif  // PRIMSET_PRIMS_GRAPH_RUN_SIZES_H_
