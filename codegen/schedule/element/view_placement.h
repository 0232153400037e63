// Views of stored values that strides can express: they need no memory of their own.
#ifndef PRIMSET_CODEGEN_SCHEDULE_ELEMENT_VIEW_PLACEMENT_H_
#define PRIMSET_CODEGEN_SCHEDULE_ELEMENT_VIEW_PLACEMENT_H_

#include <optional>

#include "codegen/schedule/element/element.h"

namespace primset::schedule {

SymInts dense_strides(const SymInts& shape);
bool same_shape(const SymInts& a, const SymInts& b);
// Is no dimension known to be 0?
bool has_elements(const SymInts& shape);
// Some dimension may be 0 in a run.
bool may_be_empty(const SymInts& shape);

// The placement of a transpose, slice or reshape whose operand is at `operand`;
// nullopt: another primitive, or a view that strides cannot express.
std::optional<Placement> view_placement(const prims::Graph& g, const prims::Node& n,
                                        const Placement& operand);

// The placement that the operand of a transpose or reshape needs for the view to be at `view`;
// nullopt as above.
std::optional<Placement> viewed_placement(const prims::Graph& g, const prims::Node& n,
                                          const Placement& view);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_ELEMENT_VIEW_PLACEMENT_H_
