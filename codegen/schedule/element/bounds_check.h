// Where a kernel finds that an index of a gather or scatter is out of range.
#ifndef PRIMSET_CODEGEN_SCHEDULE_ELEMENT_BOUNDS_CHECK_H_
#define PRIMSET_CODEGEN_SCHEDULE_ELEMENT_BOUNDS_CHECK_H_

#include "codegen/schedule/element/element.h"

namespace primset::schedule {

// i1: 0 <= index < size of the dim that index operand `k` of a gather or scatter (operand 1 + k,
// dim dims[k]) addresses. Where that does not hold, the kernel reports "index {value} of 'indices'
// is out of bounds for dimension 0" (Frame::report). The text names the graph input that the index
// was computed from, where there is one alone, else what the node's attribute `argument` says.
kir::Value check_bounds(Frame& f, const ValueEnvironment& values, const prims::Node& node, size_t k,
                        kir::Value index);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_ELEMENT_BOUNDS_CHECK_H_
