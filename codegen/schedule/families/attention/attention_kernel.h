// Attention without its matrix of weights in memory, on devices whose subgroups multiply matrices.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_ATTENTION_ATTENTION_KERNEL_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_ATTENTION_ATTENTION_KERNEL_H_

#include <array>

#include "codegen/schedule/program/kernels.h"

namespace primset::schedule {

// Does attention_kernel compute this node of primitive attention? Only f16 and bf16 without a mask,
// of heads of up to 128 elements; what it does not compute is to be decomposed. Head sizes become
// constants of the graph (a guard each).
bool fuses_attention(const prims::Graph& g, const prims::Node& n, const kir::TargetModel& target);

// Can the kernel read operand `i` (q, k, v) from there? Else it is to be made dense first.
bool attention_reads(const prims::Graph& g, const prims::Node& n, size_t i, const Placement& p);

// The roots are results of the node: y, logsumexp or both; operands lie where attention_reads
// allows it.
BuiltKernel attention_kernel(const BuildContext& c, prims::NodeId node,
                             const std::vector<Root>& roots,
                             const std::array<Placement, 3>& operands);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_ATTENTION_ATTENTION_KERNEL_H_
