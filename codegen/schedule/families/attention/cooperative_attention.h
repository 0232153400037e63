// Attention by cooperative matrices: what attention_kernel builds where the target has no other
// matrix operations.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_ATTENTION_COOPERATIVE_ATTENTION_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_ATTENTION_COOPERATIVE_ATTENTION_H_

#include "codegen/schedule/families/attention/fused_attention.h"

namespace primset::schedule {

// Does the target have such matrices of `dtype`, and workgroup memory for the tiles?
bool has_cooperative_attention(const kir::TargetModel& target, DType dtype);

BuiltKernel cooperative_attention(const BuildContext& c, const prims::Node& n,
                                  const std::vector<Root>& roots, const AttentionLayouts& layouts);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_ATTENTION_COOPERATIVE_ATTENTION_H_
