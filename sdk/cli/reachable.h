// Which primitives the implemented operators use.
#ifndef PRIMSET_SDK_CLI_REACHABLE_H_
#define PRIMSET_SDK_CLI_REACHABLE_H_

#include <cstdint>
#include <functional>
#include <set>

#include "prims/graph/graph.h"
#include "specs/bundle/model.h"

namespace primset::cli {

// Gives `visit` the graphs of calls of implemented operators until it answers that it has seen
// enough. A folder that knows calls of every operator brings one, as it brings commands.
using CallGraphs = std::function<void(const specs::Bundle& bundle,
                                      const std::function<bool(prims::Graph& graph)>& visit)>;
struct CallGraphSource {
  explicit CallGraphSource(CallGraphs graphs);
};

// Indices of the primitives that decompositions of implemented operators reach, through formulas
// and other operators, by tracing C++ decompositions on sample arguments of the meta device, and in
// the graphs that sources give. A derived primitive in use brings what its own decomposition uses.
std::set<uint32_t> reachable_primitives(const specs::Bundle& bundle);

}  // namespace primset::cli

#endif  // PRIMSET_SDK_CLI_REACHABLE_H_
