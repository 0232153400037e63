// For tests: what schedule() makes of a graph, with all that it makes on the way.
#ifndef PRIMSET_CODEGEN_SCHEDULE_TESTING_STAGED_SCHEDULE_H_
#define PRIMSET_CODEGEN_SCHEDULE_TESTING_STAGED_SCHEDULE_H_

#include <memory>

#include "codegen/schedule/fusion/fusion_plan.h"
#include "codegen/schedule/legalize/legalize.h"
#include "codegen/schedule/options.h"
#include "codegen/schedule/program/program.h"
#include "codegen/schedule/tuning/machine.h"

namespace primset::schedule {

class StagedSchedule {
 public:
  // The machine and the options outlive the object.
  StagedSchedule(const prims::Graph& graph, const Machine& machine, const Options& options);

  const prims::Graph& graph() const { return *graph_; }  // legalised
  const FusionPlan& plan() const { return plan_; }
  Program program() const;

 private:
  const Machine& machine_;
  const Options& options_;
  Legalized legal_;  // less its graph
  std::shared_ptr<const prims::Graph> graph_;
  FusionPlan plan_;
};

}  // namespace primset::schedule

#endif  // PRIMSET_CODEGEN_SCHEDULE_TESTING_STAGED_SCHEDULE_H_
