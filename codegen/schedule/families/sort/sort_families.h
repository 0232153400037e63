// The two families of primitive sort: merge sort and radix sort.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_SORT_FAMILIES_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_SORT_FAMILIES_H_

#include "codegen/schedule/families/family.h"

namespace primset::schedule {

extern const Family &merge_sort_family, &radix_sort_family;

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SORT_SORT_FAMILIES_H_
