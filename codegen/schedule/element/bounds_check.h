// Where a kernel finds that an index of a gather or scatter is out of range.
#ifndef PRIMSET_CODEGEN_SCHEDULE_ELEMENT_BOUNDS_CHECK_H_
#define PRIMSET_CODEGEN_SCHEDULE_ELEMENT_BOUNDS_CHECK_H_

#include <string>

#include "codegen/schedule/element/element.h"

namespace primset::schedule {

// "index {value} of 'indices' is out of bounds for dimension 0". The text names the graph input
// that the index operand of the gather or scatter was computed from, where there is one alone, else
// what the node's attribute `argument` says.
std::string bounds_message(const prims::Graph& graph, const prims::Node& node,
                           prims::ValueId operand, int64_t dim);

// i1: 0 <= index < size of the dim that index operand `k` of a gather or scatter (operand 1 + k,
// dim dims[k]) addresses. Where that does not hold, the kernel reports bounds_message
// (Frame::report).
kir::Value check_bounds(Frame& f, const ValueEnvironment& values, const prims::Node& node, size_t k,
                        kir::Value index);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_ELEMENT_BOUNDS_CHECK_H_
