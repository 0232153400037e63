// Which concatenations are copied operand by operand.
#ifndef PRIMSET_CODEGEN_SCHEDULE_TUNING_CONCATENATION_PARTS_H_
#define PRIMSET_CODEGEN_SCHEDULE_TUNING_CONCATENATION_PARTS_H_

#include <cstddef>
#include <cstdint>

#include "codegen/kernel/ir/target_model.h"

namespace primset::schedule {

// So many operands have a step of a program each, at most; more are first concatenated in parts.
inline constexpr size_t kMostCopies = 1024;

// So few operands are copied one by one where the result has so many elements: a GPU's launch takes
// what some ten megabytes do, a CPU's what some ten kilobytes do.
inline constexpr size_t kFewParts = 4;
inline constexpr int64_t kLargeResult = int64_t{1} << 22, kLargeResultOfCpu = int64_t{1} << 14;

// Whether the family computes a concatenation of so many operands. Else an element's index is
// compared with the range of each operand, in the kernel of whoever reads it: two comparisons are
// cheaper than memory of its own, and a GPU has one launch for all operands that are not large.
inline bool is_copied_by_parts(const kir::TargetModel& target, size_t operands) {
  return !target.simt && operands > 2 && operands <= kMostCopies;
}

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_TUNING_CONCATENATION_PARTS_H_
