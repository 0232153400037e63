// Concatenations of several operands on CPUs, each copied to its place in the result.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONCATENATION_CONCATENATION_FAMILY_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONCATENATION_CONCATENATION_FAMILY_H_

#include "codegen/schedule/families/family.h"

namespace primset::schedule {

extern const Family& concatenation_family;

// So many operands have a step of a program each, at most; more are first concatenated in parts.
inline constexpr size_t kMostCopies = 1024;

// Whether the family computes a concatenation of so many operands. Else an element's index is
// compared with the range of each operand, in the kernel of whoever reads it: two comparisons are
// cheaper than memory of its own, and a GPU has one launch for all operands.
inline bool is_copied_by_parts(const kir::TargetModel& target, size_t operands) {
  return !target.simt && operands > 2 && operands <= kMostCopies;
}

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONCATENATION_CONCATENATION_FAMILY_H_
