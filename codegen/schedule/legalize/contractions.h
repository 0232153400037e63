// Contractions that are not computed in tiles.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_CONTRACTIONS_H_
#define PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_CONTRACTIONS_H_

#include <optional>

#include "codegen/schedule/legalize/legalizer.h"

namespace primset::schedule {

// sum over k of a[batch, m, k] * b[batch, k, n], as a product over [batch, m, k, n] summed along k:
// the walk along n is contiguous in b and the element of a is the same for all lanes.
std::optional<Values> expand_contraction(Legalizer& l, const Op& op);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_CONTRACTIONS_H_
