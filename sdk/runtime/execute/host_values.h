// For devices that take no kernels: such a device has no parameter blocks, so numbers reach it as
// rank-0 tensors that the executor fills from the host.
#ifndef PRIMSET_SDK_RUNTIME_EXECUTE_HOST_VALUES_H_
#define PRIMSET_SDK_RUNTIME_EXECUTE_HOST_VALUES_H_

#include <functional>
#include <optional>
#include <vector>

#include "decomps/engine/engine.h"
#include "prims/graph/graph.h"

namespace primset::runtime {

// Makes tensor inputs of the graph's scalar inputs, and of the constants that `native` does not
// accept; `sources` grows with the inputs. One entry an input: the value of a constant, else empty.
std::vector<std::optional<Scalar>> numbers_to_tensors(
    prims::Graph& graph, std::vector<decomps::InputSource>& sources,
    const std::function<bool(const prims::Graph&, prims::NodeId)>& native);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_EXECUTE_HOST_VALUES_H_
