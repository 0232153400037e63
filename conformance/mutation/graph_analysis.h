// What holds of a graph's values whatever its inputs are. A mistake that the analysis shows to
// change nothing is no mistake, and no case could catch it.
#ifndef PRIMSET_CONFORMANCE_MUTATION_GRAPH_ANALYSIS_H_
#define PRIMSET_CONFORMANCE_MUTATION_GRAPH_ANALYSIS_H_

#include <optional>
#include <vector>

#include "prims/graph/graph.h"

namespace primset::conformance {

// By node: does an output or a check depend on it?
std::vector<bool> live_nodes(const prims::Graph& graph);

// Has it no elements?
bool is_empty(const prims::Graph& graph, prims::ValueId v);

// The one number at all places of a value that does not depend on the inputs.
std::optional<Scalar> known_number(const prims::Graph& graph, prims::ValueId v);

// Of a select whose condition is known the operand that it always chooses; else nothing.
std::optional<size_t> chosen_operand(const prims::Graph& graph, const prims::Node& node);

// Is no element NaN, or below zero?
bool never_nan(const prims::Graph& graph, prims::ValueId v);
bool never_negative(const prims::Graph& graph, prims::ValueId v);

// Has `wide` every number of `narrow`?
bool holds(DType wide, DType narrow);
// Is every element a number of `t`, too?
bool fits(const prims::Graph& graph, prims::ValueId v, DType t);

}  // namespace primset::conformance

#endif  // PRIMSET_CONFORMANCE_MUTATION_GRAPH_ANALYSIS_H_
