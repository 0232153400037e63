// Reductions go along one dim that is not too long.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_REDUCTIONS_H_
#define PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_REDUCTIONS_H_

#include <optional>

#include "codegen/schedule/legalize/legalizer.h"

namespace primset::schedule {

// A CPU reduces several dims in two steps where one would not find its elements side by side: dims
// between which others are kept, and all dims of an array, whose rows may be anywhere.
std::optional<Values> reduce_in_steps(Legalizer& l, const Op& op);

// Brings the reduced dims together, in logical order: [outer, R, inner], where inner are the
// parallel dims behind the last reduced one.
std::optional<Values> merge_reduced_dims(Legalizer& l, const Op& op);

// A long row is padded with the identity to whole chunks; the chunks are reduced, then their
// results.
std::optional<Values> split_long_reduction(Legalizer& l, const Op& op);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_REDUCTIONS_H_
