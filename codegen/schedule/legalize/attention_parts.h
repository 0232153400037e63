// Attention of few queries to many keys.
#ifndef PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_ATTENTION_PARTS_H_
#define PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_ATTENTION_PARTS_H_

#include <optional>

#include "codegen/schedule/legalize/legalizer.h"

namespace primset::schedule {

// A workgroup goes through all keys for the queries that it has; where that makes fewer workgroups
// than there are multiprocessors, parts of the keys are attended to by themselves, and their values
// weighted by what their weights add up to (Dao et al., Flash-Decoding for long-context inference,
// 2023).
std::optional<Values> split_attention(Legalizer& l, const Op& op);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_LEGALIZE_ATTENTION_PARTS_H_
