// Variance and mean of rows.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_MOMENTS_H_
#define PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_MOMENTS_H_

#include <optional>

#include "codegen/schedule/legalize/legalizer.h"

namespace primset::schedule {

// Where a row is at hand twice, two sums a time cost less than a quotient for each element. What
// the first sum's rounding left of the mean is in the elements' sum about it (Chan, Golub and
// LeVeque, 1979). Elements are divided before they are added up, so that no mean of finite ones
// overflows. Elsewhere numbers of f32 and less, and their squares, are added up in f64 in one
// pass: a second one through memory takes longer.
std::optional<Values> expand_var_mean(Legalizer& l, const Op& op);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_MOMENTS_H_
