// A costly element that a kernel stores in an output's memory in the loop that reduces it, and
// loads in the loop that needs it again: softmax computes each exponential once.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_REDUCTION_CACHED_ELEMENT_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_REDUCTION_CACHED_ELEMENT_H_

#include <optional>
#include <span>

#include "codegen/schedule/families/reduction/reduce_kernel.h"

namespace primset::schedule {

struct CachedElement {
  prims::ValueId value = prims::kNoValue;
  Root root;  // the output of the same dtype whose memory has it meanwhile
};

// A value that is an operand of a reduction of `last_stage` and that a root over the domain depends
// on, where the root needs nothing else of the row's inputs, since these may be in the root's
// memory.
std::optional<CachedElement> cached_element(const ValueEnvironment& values,
                                            const ReduceRequest& request,
                                            std::span<const prims::NodeId> last_stage);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_REDUCTION_CACHED_ELEMENT_H_
