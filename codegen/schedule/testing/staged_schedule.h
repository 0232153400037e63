// For tests: what schedule() makes of a graph, with all that it makes on the way, and for kernels
// that hold less than a device's.
#ifndef PRIMSET_CODEGEN_SCHEDULE_TESTING_STAGED_SCHEDULE_H_
#define PRIMSET_CODEGEN_SCHEDULE_TESTING_STAGED_SCHEDULE_H_

#include <memory>
#include <optional>

#include "codegen/schedule/fusion/fusion_plan.h"
#include "codegen/schedule/legalize/legalize.h"
#include "codegen/schedule/options.h"
#include "codegen/schedule/program/program.h"
#include "codegen/schedule/tuning/machine.h"

namespace primset::schedule {

struct StagedSchedule {
  std::shared_ptr<const prims::Graph> graph;  // legalised
  Legalized legal;                            // less its graph
  FusionPlan plan;
  Program program;
};

// limits: none are those of the target.
StagedSchedule schedule_in_stages(const prims::Graph& graph, const kir::TargetModel& target,
                                  const std::optional<KernelLimits>& limits,
                                  const Options& options);

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_TESTING_STAGED_SCHEDULE_H_
