// Rows that are written in parts, each computed in its own way: concatenations along rows.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONCATENATION_ROW_PARTS_KERNEL_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONCATENATION_ROW_PARTS_KERNEL_H_

#include <optional>
#include <vector>

#include "codegen/schedule/program/kernels.h"

namespace primset::schedule {

// CPU: one kernel that goes through the rows once, where a kernel a part would find each row's
// first element again, and its cache lines, for every part. The parts have the sizes of `domain`
// but along `dim`, in which their elements lie side by side. nullopt: a part's operand is
// transposed, and tiles of its own are worth more.
std::optional<BuiltKernel> row_parts_kernel(const BuildContext& c, const SymInts& domain,
                                            size_t dim, const std::vector<Root>& parts);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONCATENATION_ROW_PARTS_KERNEL_H_
