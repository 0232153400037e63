// The families of for_loop, while_loop and cond, whose bodies compute whole arrays.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTROL_CONTROL_FAMILIES_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTROL_CONTROL_FAMILIES_H_

#include "codegen/schedule/families/family.h"

namespace primset::schedule {

extern const Family &for_loop_family, &while_loop_family, &cond_family;

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTROL_CONTROL_FAMILIES_H_
