// Extrema where comparisons take denormals for zeros.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_BITWISE_EXTREMA_H_
#define PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_BITWISE_EXTREMA_H_

#include <optional>

#include "codegen/schedule/legalize/legalizer.h"

namespace primset::schedule {

// As three results of integers, which cost an instruction each. Of numbers without a sign the bits
// rise with the value, of those with one they fall as signed and rise as unsigned ones; NaN lies
// beyond the infinity of its sign.
std::optional<Values> reduce_bits(Legalizer& l, const Op& op);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_BITWISE_EXTREMA_H_
