// Concatenations of more operands than a kernel has parameters for.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_CONCATENATION_H_
#define PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_CONCATENATION_H_

#include <optional>

#include "codegen/schedule/legalize/legalizer.h"

namespace primset::schedule {

// In parts that are written to memory first.
std::optional<Values> split_concatenate(Legalizer& l, const Op& op);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_CONCATENATION_H_
