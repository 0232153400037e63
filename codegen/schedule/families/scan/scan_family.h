// The family of inclusive scans.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SCAN_SCAN_FAMILY_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SCAN_SCAN_FAMILY_H_

#include "codegen/schedule/families/family.h"

namespace primset::schedule {

extern const Family& scan_family;

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SCAN_SCAN_FAMILY_H_
