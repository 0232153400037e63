// Copies one PrimGraph into another.
#ifndef PRIMSET_SDK_RUNTIME_GRAPH_GRAPH_INLINER_H_
#define PRIMSET_SDK_RUNTIME_GRAPH_GRAPH_INLINER_H_

#include <span>
#include <vector>

#include "prims/graph/builder.h"

namespace primset::runtime {

// Appends the nodes of `from` to the builder's graph, which has the same symbols; `inputs` are what
// its inputs become. Returns what its outputs became.
std::vector<prims::ValueId> inline_graph(prims::Builder& builder, const prims::Graph& from,
                                         std::span<const prims::ValueId> inputs);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_GRAPH_GRAPH_INLINER_H_
