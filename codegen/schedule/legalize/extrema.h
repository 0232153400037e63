// Extrema whose place is asked for: reductions and scans of (value, index) pairs.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_EXTREMA_H_
#define PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_EXTREMA_H_

#include <optional>

#include "codegen/schedule/legalize/legalizer.h"

namespace primset::schedule {

std::optional<Values> expand_arg_reduce(Legalizer& l, const Op& op);
std::optional<Values> expand_extremum_scan(Legalizer& l, const Op& op);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_EXTREMA_H_
