// Products of matrices that tiles are worth it for.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_CONTRACTION_FAMILY_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_CONTRACTION_FAMILY_H_

#include "codegen/schedule/families/family.h"

namespace primset::schedule {

extern const Family& contraction_family;

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTRACTION_CONTRACTION_FAMILY_H_
