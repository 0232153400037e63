#include "codegen/schedule/testing/staged_schedule.h"

#include <utility>
#include <vector>

#include "codegen/schedule/families/native/native_family.h"
#include "codegen/schedule/fusion/planner.h"
#include "codegen/schedule/program/program_builder.h"

namespace primset::schedule {

StagedSchedule::StagedSchedule(const prims::Graph& graph, const kir::TargetModel& target,
                               const std::optional<KernelLimits>& limits, const Options& options)
    : options_(options), machine_(target), legal_(legalize(graph, target, options.native)) {
  graph_ = std::make_shared<const prims::Graph>(std::move(legal_.graph));
  machine_.radix_length = options.radix_length;
  if (limits) machine_.limits = *limits;
  const NativeFamily native(options);
  std::vector<const Family*> all{&native};
  all.insert(all.end(), families().begin(), families().end());
  plan_ = plan_fusion(*graph_, legal_, machine_, options, all);
}

Program StagedSchedule::program() const {
  return ProgramBuilder(graph_, legal_, plan_, machine_, options_).build();
}

}  // namespace primset::schedule
