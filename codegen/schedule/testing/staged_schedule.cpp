#include "codegen/schedule/testing/staged_schedule.h"

#include <utility>
#include <vector>

#include "codegen/schedule/families/native/native_family.h"
#include "codegen/schedule/fusion/planner.h"
#include "codegen/schedule/program/program_builder.h"

namespace primset::schedule {

StagedSchedule schedule_in_stages(const prims::Graph& graph, const kir::TargetModel& target,
                                  const std::optional<KernelLimits>& limits,
                                  const Options& options) {
  StagedSchedule s;
  s.legal = legalize(graph, target, options.native);
  s.graph = std::make_shared<const prims::Graph>(std::move(s.legal.graph));
  Machine machine(target);
  machine.radix_length = options.radix_length;
  if (limits) machine.limits = *limits;
  const NativeFamily native(options);
  std::vector<const Family*> all{&native};
  all.insert(all.end(), families().begin(), families().end());
  s.plan = plan_fusion(*s.graph, s.legal, machine, options, all);
  s.program = ProgramBuilder(s.graph, s.legal, s.plan, machine, options).build();
  return s;
}

}  // namespace primset::schedule
