#include "codegen/schedule/testing/staged_schedule.h"

#include <utility>
#include <vector>

#include "codegen/schedule/families/native/native_family.h"
#include "codegen/schedule/fusion/planner.h"
#include "codegen/schedule/program/program_builder.h"

namespace primset::schedule {

StagedSchedule::StagedSchedule(const prims::Graph& graph, const Machine& machine,
                               const Options& options)
    : machine_(machine), options_(options), legal_(legalize(graph, machine, options.native)) {
  graph_ = std::make_shared<const prims::Graph>(std::move(legal_.graph));
  const NativeFamily native(options);
  std::vector<const Family*> all{&native};
  all.insert(all.end(), families().begin(), families().end());
  plan_ = plan_fusion(*graph_, legal_, machine_, options, all);
}

Program StagedSchedule::program() const {
  return ProgramBuilder(graph_, legal_, plan_, machine_, options_).build();
}

}  // namespace primset::schedule
