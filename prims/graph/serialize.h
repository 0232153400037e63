// The serialised form of PrimGraph: compact, versioned, the same bytes for equal graphs. Plugins
// that compile whole graphs read it with serialized.h, which also describes it.
#ifndef PRIMSET_PRIMS_GRAPH_SERIALIZE_H_
#define PRIMSET_PRIMS_GRAPH_SERIALIZE_H_

#include <cstddef>
#include <span>
#include <vector>

#include "prims/graph/graph.h"

namespace primset::prims {

// The graph verifies.
std::vector<std::byte> serialize(const Graph& graph);

// Throws Error{corrupt} saying what is wrong when the bytes are cut short, damaged or of another
// version, or when the graph that they hold does not verify.
Graph deserialize(std::span<const std::byte> bytes);

}  // namespace primset::prims

#endif  // PRIMSET_PRIMS_GRAPH_SERIALIZE_H_
