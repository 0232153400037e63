#include "codegen/schedule/legalize/passes.h"

#include <array>

#include "codegen/schedule/legalize/accumulation.h"
#include "codegen/schedule/legalize/attention_parts.h"
#include "codegen/schedule/legalize/bitwise_extrema.h"
#include "codegen/schedule/legalize/compaction.h"
#include "codegen/schedule/legalize/concatenation.h"
#include "codegen/schedule/legalize/contractions.h"
#include "codegen/schedule/legalize/control_flow.h"
#include "codegen/schedule/legalize/extrema.h"
#include "codegen/schedule/legalize/moments.h"
#include "codegen/schedule/legalize/reductions.h"
#include "codegen/schedule/legalize/scans.h"

namespace primset::schedule {

std::span<const Pass> legalize_passes() {
  static constexpr auto kPasses = std::to_array<Pass>({
      {"capture_operands", capture_operands,
       "first: it inlines the old graph's branches, whose nodes are offered to every pass"},
      {"widen_accumulation", widen_accumulation,
       "before all that makes sums: they say themselves what they are added up in"},
      {"split_attention", split_attention, "makes reductions"},
      {"expand_contraction", expand_contraction, "makes sums along several dims"},
      {"expand_var_mean", expand_var_mean, "makes sums along several dims"},
      {"expand_arg_reduce", expand_arg_reduce, "makes reductions of pairs, of any length"},
      {"expand_extremum_scan", expand_extremum_scan, "cuts its long scans itself"},
      {"expand_compact", expand_compact, "makes a sum of any length"},
      {"split_long_scan", split_long_scan, "behind what makes sums of integers"},
      {"check_count", check_count, "anywhere: it makes nothing that others rewrite"},
      {"reduce_in_steps", reduce_in_steps,
       "behind all that makes reductions, and before their dims are merged"},
      {"merge_reduced_dims", merge_reduced_dims,
       "behind all that makes reductions, and before their length is asked for"},
      {"split_long_reduction", split_long_reduction, "when a reduction goes along one dim"},
      {"reduce_bits", reduce_bits, "when the extremum of a row is what one kernel finds"},
      {"split_concatenate", split_concatenate, "last: others may concatenate"},
  });
  return kPasses;
}

}  // namespace primset::schedule
