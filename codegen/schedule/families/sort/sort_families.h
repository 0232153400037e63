// The families of primitive sort: in a workgroup's memory, by digits, and by merging.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_SORT_FAMILIES_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_SORT_FAMILIES_H_

#include "codegen/schedule/families/family.h"

namespace primset::schedule {

extern const Family &group_sort_family, &merge_sort_family, &radix_sort_family;
// Of primitives kth_value and median: an element of each row, which is sorted in a workgroup's
// memory, or found by digits.
extern const Family &group_select_family, &radix_select_family;

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_SORT_FAMILIES_H_
