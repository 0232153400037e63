// The operands of a node that are there.
#ifndef PRIMSET_PRIMS_GRAPH_PRESENT_OPERANDS_H_
#define PRIMSET_PRIMS_GRAPH_PRESENT_OPERANDS_H_

#include <ranges>

#include "prims/graph/graph.h"

namespace primset::prims {

// Without the optional operands that are absent: kNoValue names no value, so nothing that is looked
// up by a value may be asked for it.
inline auto present_operands(const Node& n) {
  return n.operands | std::views::filter([](ValueId v) { return v != kNoValue; });
}

}  // namespace primset::prims

#endif  // PRIMSET_PRIMS_GRAPH_PRESENT_OPERANDS_H_
