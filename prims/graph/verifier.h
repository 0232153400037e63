// Checks a whole graph: every node's types are what inference gives, every use is in scope, scalar
// regions capture nothing, outputs that write inputs have fitting types.
#ifndef PRIMSET_PRIMS_GRAPH_VERIFIER_H_
#define PRIMSET_PRIMS_GRAPH_VERIFIER_H_

#include <string>
#include <vector>

#include "prims/graph/graph.h"

namespace primset::prims {

std::vector<std::string> verify(const Graph& graph);  // empty: sound
void verify_or_throw(const Graph& graph);

}  // namespace primset::prims

#endif  // PRIMSET_PRIMS_GRAPH_VERIFIER_H_
