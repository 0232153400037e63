// The family of primitive `attention`, where one kernel computes it (attention_kernel.h).
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_ATTENTION_ATTENTION_FAMILY_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_ATTENTION_ATTENTION_FAMILY_H_

#include "codegen/schedule/families/family.h"

namespace primset::schedule {

extern const Family& attention_family;

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_ATTENTION_ATTENTION_FAMILY_H_
