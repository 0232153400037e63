// Elements that are selected, in order and packed to the front: on SIMT devices in tiles.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_COMPACTION_COMPACTION_FAMILY_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_COMPACTION_COMPACTION_FAMILY_H_

#include "codegen/schedule/families/family.h"

namespace primset::schedule {

extern const Family& compaction_family;

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_COMPACTION_COMPACTION_FAMILY_H_
