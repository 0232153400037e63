// The error text of an index out of range.
#ifndef PRIMSET_CODEGEN_SCHEDULE_ELEMENT_INDEX_CHECK_H_
#define PRIMSET_CODEGEN_SCHEDULE_ELEMENT_INDEX_CHECK_H_

#include <string>

#include "prims/graph/graph.h"

namespace primset::schedule {

// "index {value} of 'indices' is out of bounds for dimension 0": the text for index operand
// `operand` of a gather or scatter along `dim`. It names the graph input that the index was made
// from, where there is one alone, else what the node's attribute `argument` says.
std::string index_check_message(const prims::Graph& graph, const prims::Node& node,
                                prims::ValueId operand, int64_t dim);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_ELEMENT_INDEX_CHECK_H_
