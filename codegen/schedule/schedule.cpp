#include "codegen/schedule/schedule.h"

#include <algorithm>
#include <utility>

#include "codegen/schedule/families/native/native_family.h"
#include "codegen/schedule/fusion/planner.h"
#include "codegen/schedule/legalize/integers/narrow_integers.h"
#include "codegen/schedule/legalize/legalize.h"
#include "codegen/schedule/program/program_builder.h"
#include "primset/error.h"

namespace primset::schedule {

bool is_legal_derived(const prims::Graph& g, prims::NodeId node, const Machine& machine) {
  const auto takes = [&](const Family* f) { return f->is_legal_derived(g, node, machine); };
  return std::ranges::any_of(families(), takes) || takes(&reduction_family);
}

// The passes:
//   1. legalize    every node gets a form that a kernel family computes; then, on machines without
//                  64-bit integers, what it computes in them becomes narrow
//   2. fusion      which nodes share a kernel, what is in memory, in which order kernels run
//   3. program     kernels and steps, as the plan says
Program schedule(const std::shared_ptr<const prims::Graph>& graph, const Machine& machine,
                 const Options& options) {
  if (!machine.target.i64 && !options.index32)
    throw Error(ErrorCode::not_implemented,
                "more elements than 32-bit indices reach, and the device has no 64-bit integers");
  Legalized legal = legalize(*graph, machine, options.native);
  if (!machine.target.i64) narrow_integers(legal.graph);
  auto legal_graph = std::make_shared<const prims::Graph>(std::move(legal.graph));
  const NativeFamily native(options);
  std::vector<const Family*> all{&native};
  all.insert(all.end(), families().begin(), families().end());
  const FusionPlan plan = plan_fusion(*legal_graph, legal, machine, options, all);
  if (options.fusion_text) *options.fusion_text = print(plan, *legal_graph);
  return ProgramBuilder(legal_graph, legal, plan, machine, options).build();
}

}  // namespace primset::schedule
