// The dtype in which sums and products of many elements are carried on.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_ACCUMULATION_H_
#define PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_ACCUMULATION_H_

#include <optional>

#include "codegen/schedule/legalize/legalizer.h"

namespace primset::schedule {

// Floats shorter than f32 accumulate in it. f32 does so in f64 where that is fast and each step
// would round: in a running sum and a sum of windows, where terms often cancel, and where few are
// reduced.
std::optional<Values> widen_accumulation(Legalizer& l, const Op& op);

bool is_short_float(DType t);  // than f32

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_ACCUMULATION_H_
