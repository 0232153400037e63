// Sibling fusion (XLA's multi-output fusion): groups over the same domain that do not depend on
// each other become one kernel. What both read is read once, and a launch is saved.
#include <algorithm>
#include <map>

#include "codegen/schedule/element/view_placement.h"
#include "codegen/schedule/fusion/planner.h"

namespace primset::schedule {
namespace {

// How many groups of one kind are kept open for others to join.
constexpr size_t kOpen = 4;

std::string shape_key(const SymInts& shape) {
  std::string key;
  for (const SymInt& s : shape)
    key += (s.is_constant() ? '#' + std::to_string(s.constant()) : '$' + std::to_string(s.poly())) +
           ' ';
  return key;
}

bool share_a_read(const FusionGroup& a, const FusionGroup& b) {
  return std::ranges::any_of(a.reads, [&](const Read& x) {
    return std::ranges::any_of(b.reads, [&](const Read& y) { return x.value == y.value; });
  });
}

}  // namespace

void Planner::merge_siblings() {
  if (!options_.fuse) return;
  std::vector<GroupId> by_time;
  for (GroupId g = 0; g < plan_.groups.size(); ++g) {
    const FusionGroup& group = plan_.groups[g];
    const bool free = group.anchor == Graph::kNoNode && !group.roots.empty();
    if (find(g) == g && free && drafts_[g].first != UINT32_MAX) by_time.push_back(g);
  }
  std::ranges::sort(by_time, {}, [&](GroupId g) { return drafts_[g].first; });
  std::map<std::string, std::vector<GroupId>> open;
  for (GroupId g : by_time) {
    const FusionGroup& group = plan_.groups[g];
    const bool reduction = group.family == &reduction_family;
    const std::string key = std::to_string(drafts_[g].region) +
                            (reduction ? 'r' + std::to_string(group.dim) : "p") + ' ' +
                            shape_key(group.domain);
    std::vector<GroupId>& candidates = open[key];
    const auto joined = std::ranges::find_if(candidates, [&](GroupId other) {
      const bool inputs_alone = drafts_[g].latest_read == 0 && drafts_[other].latest_read == 0;
      return can_merge(other, g) && (inputs_alone || share_a_read(plan_.groups[other], group));
    });
    if (joined != candidates.end()) {
      merge(*joined, g);
      continue;
    }
    candidates.push_back(g);
    if (candidates.size() > kOpen) candidates.erase(candidates.begin());
  }
}

}  // namespace primset::schedule
