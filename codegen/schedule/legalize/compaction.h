// Sizes that only the run knows.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_COMPACTION_H_
#define PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_COMPACTION_H_

#include <optional>

#include "codegen/schedule/legalize/legalizer.h"

namespace primset::schedule {

// Selected elements go to the place that the number of selected ones before them says, the others
// behind all selected ones: a permutation, so no two threads write one place.
std::optional<Values> expand_compact(Legalizer& l, const Op& op);

// set_dim by a count from elsewhere than compact, which may be any number: it is checked, and cut
// to what the dim has.
std::optional<Values> check_count(Legalizer& l, const Op& op);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_COMPACTION_H_
