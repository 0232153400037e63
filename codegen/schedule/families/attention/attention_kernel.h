// Attention in one kernel, without the matrix of scores in memory, on devices whose subgroups
// multiply matrices (docs/decisions/attention.md).
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_ATTENTION_ATTENTION_KERNEL_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_ATTENTION_ATTENTION_KERNEL_H_

#include <array>

#include "codegen/schedule/program/kernels.h"

namespace primset::schedule {

// Does attention_kernel compute this node of primitive attention? f16 and bf16 without a mask,
// heads of up to kLongestHead elements, unless is_long_and_narrow; other nodes are decomposed.
// Specialises head sizes (a guard each).
bool fuses_attention(const prims::Graph& g, const prims::Node& n, const kir::TargetModel& target);

// Can the kernel read operand `i` (q, k, v) at `p`? Otherwise the caller makes it dense first.
bool attention_reads(const prims::Graph& g, const prims::Node& n, size_t i, const Placement& p);

// The roots are results of the node: y, logsumexp or both. attention_reads() holds for the
// operands.
BuiltKernel attention_kernel(const BuildContext& c, prims::NodeId node,
                             const std::vector<Root>& roots,
                             const std::array<Placement, 3>& operands);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_ATTENTION_ATTENTION_KERNEL_H_
