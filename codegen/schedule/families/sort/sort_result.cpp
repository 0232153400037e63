#include "codegen/schedule/families/sort/sort_result.h"

#include "codegen/schedule/program/program_builder.h"

namespace primset::schedule {

std::vector<SortResult> wanted_results(const ProgramBuilder& b, const FusionGroup& group) {
  const prims::Node& n = b.graph().node(group.anchor);
  std::vector<SortResult> results;
  for (size_t k = 0; k < n.results.size(); ++k) {
    if (const Placement* wanted = ProgramBuilder::wanted(group, n.results[k]))
      results.push_back({k, *wanted});
  }
  return results;
}

}  // namespace primset::schedule
