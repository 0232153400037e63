// Expansion of derived primitives.
#ifndef PRIMSET_DECOMPS_ENGINE_EXPAND_H_
#define PRIMSET_DECOMPS_ENGINE_EXPAND_H_

#include <functional>

#include "decomps/engine/device_traits.h"
#include "prims/graph/graph.h"
#include "specs/bundle/model.h"

namespace primset::decomps {

// Replaces every derived primitive of the graph by its decomposition, except those that `keep`
// accepts.
void expand_derived(prims::Graph& graph, const specs::Bundle& bundle,
                    const std::function<bool(const prims::Graph&, prims::NodeId)>& keep,
                    DeviceTraits device = {});

}  // namespace primset::decomps

#endif  // PRIMSET_DECOMPS_ENGINE_EXPAND_H_
