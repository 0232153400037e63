// The textual form of PrimGraph: print() and parse() are inverse to each other.
//
//   symbol s0 = 5 min 2
//   symbol s1 = 7
//   guard s0 - s1 < 0
//   graph(%0 self: f32[s0, s1], %1 alpha: f32 scalar) {
//     %2: f32[s0, s1] = broadcast_in_dim(%1) {shape = [s0, s1], dims = ()}
//     %3: f32[s0, s1] = mul(%0, %2)
//     return %3 result
//   }
//
// An attribute's spelling says its type: 3 an integer, true a flag, "sum" a string, f32 a dtype,
// (0, 1) integers, <s0 + 1> a symbolic integer, [s0, 4] symbolic integers, #2.5 a Scalar. A region
// follows its node: region(%4: f32[]) { ... return %5 }. Values are numbered in order of
// appearance, those of a node's regions before the node's own; an absent optional operand is
// `none`.
#ifndef PRIMSET_PRIMS_GRAPH_TEXT_H_
#define PRIMSET_PRIMS_GRAPH_TEXT_H_

#include <string>
#include <string_view>

#include "prims/graph/graph.h"

namespace primset::prims {

std::string print(const Graph& graph);
std::string type_text(const Graph& graph, const ValueType& type);  // "f32[s0, 4]"
// Throws Error{value} with line, column and what was expected.
Graph parse(std::string_view text);

}  // namespace primset::prims

#endif  // PRIMSET_PRIMS_GRAPH_TEXT_H_
