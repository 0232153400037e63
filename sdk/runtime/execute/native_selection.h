// Which nodes of a graph go to a native primitive, such as products to a library, and which to our
// kernels (docs/decisions/native_primitives.md).
#ifndef PRIMSET_SDK_RUNTIME_EXECUTE_NATIVE_SELECTION_H_
#define PRIMSET_SDK_RUNTIME_EXECUTE_NATIVE_SELECTION_H_

#include "prims/graph/graph.h"
#include "sdk/runtime/plugin/device.h"

namespace primset::runtime {

// Does the device compute this node? Asked with the hints of its sizes. Where the plugin states
// from how much work on it does, records a guard on which side of it the node is.
bool runs_natively(const plugin::PluginDevice& device, const prims::Graph& graph,
                   prims::NodeId node);

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_EXECUTE_NATIVE_SELECTION_H_
