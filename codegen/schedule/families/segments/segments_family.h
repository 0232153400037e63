// Runs of a dim, each reduced to one element: segment_reduce on SIMT devices.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SEGMENTS_SEGMENTS_FAMILY_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SEGMENTS_SEGMENTS_FAMILY_H_

#include "codegen/schedule/families/family.h"

namespace primset::schedule {

extern const Family& segments_family;

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_SEGMENTS_SEGMENTS_FAMILY_H_
