// The results of a primitive that sorts or selects.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_SORT_RESULT_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_SORT_RESULT_H_

#include <cstddef>
#include <vector>

#include "codegen/schedule/element/element.h"

namespace primset::schedule {

struct FusionGroup;
class ProgramBuilder;

struct SortResult {
  size_t number;  // among the node's
  Placement out;
};

// Those of the group's node that have readers. Others are not computed.
std::vector<SortResult> wanted_results(const ProgramBuilder& b, const FusionGroup& group);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_SORT_RESULT_H_
