// The branches of cond see its operands.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_CONTROL_FLOW_H_
#define PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_CONTROL_FLOW_H_

#include <optional>

#include "codegen/schedule/legalize/legalizer.h"

namespace primset::schedule {

// A branch is run once at most, so it sees the operands themselves: none is copied to be a
// parameter, and what is given back as it was need not be touched.
std::optional<Values> capture_operands(Legalizer& l, const Op& op);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_CONTROL_FLOW_H_
