// Concatenations of several operands on CPUs, each copied to its place in the result.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONCATENATION_CONCATENATION_FAMILY_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONCATENATION_CONCATENATION_FAMILY_H_

#include "codegen/schedule/families/family.h"

namespace primset::schedule {

extern const Family& concatenation_family;

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONCATENATION_CONCATENATION_FAMILY_H_
