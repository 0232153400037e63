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

class StagedSchedule {
 public:
  // limits: none are those of the target. The target and the options outlive the object.
  StagedSchedule(const prims::Graph& graph, const kir::TargetModel& target,
                 const std::optional<KernelLimits>& limits, const Options& options);

  const prims::Graph& graph() const { return *graph_; }  // legalised
  const KernelLimits& limits() const { return machine_.limits; }
  const FusionPlan& plan() const { return plan_; }
  Program program() const;

 private:
  const Options& options_;
  Machine machine_;
  Legalized legal_;  // less its graph
  std::shared_ptr<const prims::Graph> graph_;
  FusionPlan plan_;
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_TESTING_STAGED_SCHEDULE_H_
