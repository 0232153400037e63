#include "codegen/schedule/schedule.h"

#include <algorithm>
#include <utility>

#include "codegen/schedule/families/attention/attention_kernel.h"
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
//   1. normalize      every node gets a form that has a kernel family
//   2. build          values are materialised, kernels fused and built, in the order they run
//   3. reorder        what reads an input is made before the output that takes over its memory
//   4. detach         outputs for which that is not enough are computed aside
Program schedule(const std::shared_ptr<const prims::Graph>& graph, const kir::TargetModel& target,
                 const Options& options) {
  Normalized normalized = normalize(*graph, target, options.native);
  auto normal = std::make_shared<prims::Graph>(std::move(normalized.graph));
  std::vector<bool> detached(normal->outputs.size(), false);
  // Detaching one output may make another unsafe; every round but the first detaches at least one.
  for (size_t round = 0; round <= normal->outputs.size() + 1; ++round) {
    ProgramBuilder builder(normal, normalized, target, options, round > 0, detached);
    Program program = builder.build();
    const std::vector<bool> unsafe = builder.unsafe_outputs();
    if (round == 0 && std::ranges::count(unsafe, true) > 0 && unsafe.size() > 1) continue;
    bool safe = true;
    for (size_t j = 0; j < unsafe.size(); ++j) {
      if (unsafe[j]) detached[j] = true, safe = false;
    }
    if (safe) return program;
  }
  throw Error(ErrorCode::internal, "outputs cannot be detached from the inputs they overwrite");
}

}  // namespace primset::schedule
