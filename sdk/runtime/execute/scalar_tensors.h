// For devices that take no kernels, and so have no parameter blocks: scalars reach them as rank-0
// tensors that the executor fills from the host.
#ifndef PRIMSET_SDK_RUNTIME_EXECUTE_SCALAR_TENSORS_H_
#define PRIMSET_SDK_RUNTIME_EXECUTE_SCALAR_TENSORS_H_

#include <functional>
#include <optional>
#include <vector>

#include "decomps/engine/engine.h"
#include "prims/graph/graph.h"

namespace primset::runtime {

// Turns the graph's scalar inputs, and the constants that `native` does not accept, into tensor
// inputs; appends to `sources`. Returns an entry for each input: the value of a constant, else
// nullopt.
std::vector<std::optional<Scalar>> scalars_to_tensors(
    prims::Graph& graph, std::vector<decomps::InputSource>& sources,
    const std::function<bool(const prims::Graph&, prims::NodeId)>& native);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_EXECUTE_SCALAR_TENSORS_H_
