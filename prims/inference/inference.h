// Result types of every primitive: one function a primitive, one file a category, each rule with
// the label it has in specs/prims/<category>.yaml (gather_c2). A broken rule throws
// Error{internal}: the operator layer has told users of their mistakes long before.
#ifndef PRIMSET_PRIMS_INFERENCE_INFERENCE_H_
#define PRIMSET_PRIMS_INFERENCE_INFERENCE_H_

#include <span>
#include <vector>

#include "prims/graph/graph.h"

namespace primset::prims {

std::vector<ValueType> infer(const Graph& graph, Prim prim, std::span<const ValueId> operands,
                             std::span<const Attr> attrs, std::span<const Region> regions);

}  // namespace primset::prims

#endif  // PRIMSET_PRIMS_INFERENCE_INFERENCE_H_
