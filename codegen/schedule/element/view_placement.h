// Views of values that have memory: where strides can express them they need none of their own.
#ifndef PRIMSET_CODEGEN_SCHEDULE_ELEMENT_VIEW_PLACEMENT_H_
#define PRIMSET_CODEGEN_SCHEDULE_ELEMENT_VIEW_PLACEMENT_H_

#include <optional>

#include "codegen/schedule/element/element.h"

namespace primset::schedule {

SymInts dense_strides(const SymInts& shape);
bool same_shape(const SymInts& a, const SymInts& b);
// No dimension is known to be 0.
bool has_elements(const SymInts& shape);
// Some dimension may be 0 in a run.
bool may_be_empty(const SymInts& shape);

// Where the elements of a transpose, slice or reshape lie when its operand lies at `operand`;
// nullopt: it is another primitive, or no strides see it so.
std::optional<Placement> view_placement(const prims::Graph& g, const prims::Node& n,
                                        const Placement& operand);

// Where the operand of a transpose or reshape has to lie for the view to lie at `view`; nullopt as
// above.
std::optional<Placement> viewed_placement(const prims::Graph& g, const prims::Node& n,
                                          const Placement& view);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_ELEMENT_VIEW_PLACEMENT_H_
