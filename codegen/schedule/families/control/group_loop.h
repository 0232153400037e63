// A loop of few elements in one kernel: a workgroup runs all iterations, and what they carry stands
// in its memory. Else every iteration is a launch, and a copy of what it carries.
#ifndef PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTROL_GROUP_LOOP_H_
#define PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTROL_GROUP_LOOP_H_

#include <optional>

#include "codegen/schedule/program/program_builder.h"

namespace primset::schedule {

// The kernel of a for_loop whose carried values are in place. nullopt: its body is not one
// pointwise kernel, or of too many elements for a workgroup. Guards, where sizes are symbolic.
std::optional<BuiltKernel> group_loop(ProgramBuilder& b, const FusionGroup& loop);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_FAMILIES_CONTROL_GROUP_LOOP_H_
