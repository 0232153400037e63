#include "codegen/schedule/schedule.h"

#include <algorithm>
#include <utility>

#include "codegen/schedule/families/attention/attention_kernel.h"
#include "codegen/schedule/families/native/native_family.h"
#include "codegen/schedule/fusion/planner.h"
#include "codegen/schedule/legalize/legalize.h"
#include "codegen/schedule/loops/loops.h"
#include "codegen/schedule/program/program_builder.h"
#include "primset/error.h"

namespace primset::schedule {

namespace {

// Rows that a SIMT device walks by one workgroup each: legalize.cpp writes their variance as sums.
bool sums_variance(const prims::Graph& g, const prims::Node& n, const kir::TargetModel& target) {
  const prims::ValueType& x = g.type(n.operands[0]);
  const auto& dims = n.attr<std::vector<int64_t>>("dims");
  if (!target.simt || is_complex(x.dtype) || dims.empty()) return false;
  const auto first = static_cast<int64_t>(x.shape.size() - dims.size());
  if (std::ranges::any_of(dims, [&](int64_t d) { return d < first; })) return false;
  prims::SymInt length = 1;
  for (int64_t d : dims) length *= x.shape[static_cast<size_t>(d)];
  return length > prims::SymInt(0) && !(length > prims::SymInt(kReductionChunk));
}

}  // namespace

bool takes_derived(const prims::Graph& g, prims::NodeId node, const kir::TargetModel& target) {
  const prims::Node& n = g.node(node);
  if (n.prim == prims::Prim::attention) return fuses_attention(g, n, target);
  return n.prim == prims::Prim::var_mean && sums_variance(g, n, target);
}

// The passes:
//   1. legalize    every node gets a form that a kernel family computes
//   2. fusion      which nodes share a kernel, what is in memory, in which order kernels run
//   3. program     kernels and steps, as the plan says
Program schedule(const std::shared_ptr<const prims::Graph>& graph, const kir::TargetModel& target,
                 const Options& options) {
  Legalized legal = legalize(*graph, target, options.native);
  auto legal_graph = std::make_shared<const prims::Graph>(std::move(legal.graph));
  Machine machine(target);
  machine.radix_length = options.radix_length;
  const NativeFamily native(options);
  std::vector<const Family*> all{&native};
  all.insert(all.end(), families().begin(), families().end());
  const FusionPlan plan = plan_fusion(*legal_graph, legal, machine, options, all);
  if (options.fusion_text) *options.fusion_text = print(plan, *legal_graph);
  return ProgramBuilder(legal_graph, legal, plan, machine, options).build();
}

}  // namespace primset::schedule
