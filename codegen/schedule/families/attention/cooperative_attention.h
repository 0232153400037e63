// Attention by cooperative matrices: attention_kernel's way where the target has them alone.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_ATTENTION_COOPERATIVE_ATTENTION_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_ATTENTION_COOPERATIVE_ATTENTION_H_

#include "codegen/schedule/families/attention/fused_attention.h"

namespace primset::schedule {

// Has the target the matrices, and the memory for the tiles?
bool has_cooperative_attention(const kir::TargetModel& target, DType dtype);

BuiltKernel cooperative_attention(const BuildContext& c, const prims::Node& n,
                                  const std::vector<Root>& roots, const AttentionLayouts& layouts);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_ATTENTION_COOPERATIVE_ATTENTION_H_
