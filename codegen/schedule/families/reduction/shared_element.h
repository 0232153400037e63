// Which element of a row, costly to compute, is kept in an output's memory between the walk that
// reduces it and the walk that needs it again: softmax computes each exponential once.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_REDUCTION_SHARED_ELEMENT_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_REDUCTION_SHARED_ELEMENT_H_

#include <optional>
#include <span>

#include "codegen/schedule/families/reduction/reduce_kernel.h"

namespace primset::schedule {

struct KeptElement {
  prims::ValueId value = prims::kNoValue;
  Root root;  // the output of the same dtype whose memory holds it meanwhile
};

// A value that a reduction of `last_stage` takes in and a wide root is made of, where that root
// needs nothing else of the row's inputs: they may live in the root's memory.
std::optional<KeptElement> kept_element(const Materialized& values, const ReduceRequest& request,
                                        std::span<const prims::NodeId> last_stage);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_REDUCTION_SHARED_ELEMENT_H_
