#include "codegen/schedule/schedule.h"

#include <utility>

#include "codegen/schedule/normalize.h"
#include "codegen/schedule/program_builder.h"
#include "primset/error.h"

namespace primset::schedule {

// The passes:
//   1. normalize      every node gets a form that has a kernel family
//   2. build          values are materialised, kernels fused and built, in the order they run
//   3. detach         outputs that take over an input still being read are computed aside
Program schedule(const std::shared_ptr<const prims::Graph>& graph, const kir::TargetModel& target,
                 const Options& options) {
  Normalized normalized = normalize(*graph, target, options.native);
  auto normal = std::make_shared<prims::Graph>(std::move(normalized.graph));
  std::vector<bool> detached(normal->outputs.size(), false);
  // Detaching one output may make another unsafe; every round detaches at least one.
  for (size_t round = 0; round <= normal->outputs.size(); ++round) {
    ProgramBuilder builder(normal, normalized.reread, target, options, detached);
    Program program = builder.build();
    const std::vector<bool> unsafe = builder.unsafe_outputs();
    bool safe = true;
    for (size_t j = 0; j < unsafe.size(); ++j) {
      if (unsafe[j]) detached[j] = true, safe = false;
    }
    if (safe) return program;
  }
  throw Error(ErrorCode::internal, "outputs cannot be detached from the inputs they overwrite");
}

}  // namespace primset::schedule
