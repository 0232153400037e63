// The order in which groups run, and which outputs may take over an input's memory.
//
// A group runs after the groups that write what it reads. An output that is written into an input's
// memory (in-place, out=) is written after everything that reads this input; its own kernel may
// read the very element that it writes. Where these constraints form a cycle the output is
// detached: computed into a temporary, and copied at the end.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FUSION_ORDER_H_
#define PRIMSET_CODEGEN_SCHEDULE_FUSION_ORDER_H_

#include <span>

#include "codegen/schedule/fusion/fusion_plan.h"

namespace primset::schedule {

// The region of a group, and the position of its first result in the graph.
struct GroupSlot {
  static constexpr uint32_t kMerged = UINT32_MAX;  // as region: it is part of another group
  uint32_t region = 0;
  uint32_t first = 0;
};

// Sets plan.order and the regions' orders; detaches outputs.
void order_groups(const prims::Graph& g, FusionPlan& plan, std::span<const GroupSlot> slots);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FUSION_ORDER_H_
