// Writes at computed places. Gathers need no family: they are indexable.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_GATHER_SCATTER_SCATTER_FAMILY_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_GATHER_SCATTER_SCATTER_FAMILY_H_

#include "codegen/schedule/families/family.h"

namespace primset::schedule {

extern const Family& scatter_family;

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_GATHER_SCATTER_SCATTER_FAMILY_H_
