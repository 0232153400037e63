#include "sdk/runtime/graph/view_tree.h"

#include <algorithm>
#include <utility>

namespace primset::runtime {

using decomps::Val;

ViewTree::Id ViewTree::add(Id parent, decomps::View view) {
  nodes_.push_back({parent, std::move(view), prims::kNoValue, {}});
  return static_cast<Id>(nodes_.size() - 1);
}

std::vector<ViewTree::Id> ViewTree::path(Id id) const {
  std::vector<Id> path;
  for (; id != kWhole; id = nodes_[id].parent) path.push_back(id);
  std::ranges::reverse(path);
  return path;
}

// A chain may be long, so it is no recursion: up to the first view that has been applied to the
// base's value, and down again.
Val ViewTree::read(Id id, const Val& base) {
  std::vector<Id> missing;
  for (; id != kWhole && nodes_[id].base != base.id(); id = nodes_[id].parent)
    missing.push_back(id);
  Val seen = id == kWhole ? base : nodes_[id].seen;
  for (size_t i = missing.size(); i-- > 0;) {
    Node& node = nodes_[missing[i]];
    seen = decomps::view_of(seen, node.view);
    node.base = base.id();
    node.seen = seen;
  }
  return seen;
}

// From the last view to the base: each parent with its part replaced.
Val ViewTree::write(Id id, const Val& base, const Val& value) {
  read(id, base);
  Val now = value;
  for (; id != kWhole; id = nodes_[id].parent) {
    const Id parent = nodes_[id].parent;
    now =
        decomps::write_through(parent == kWhole ? base : nodes_[parent].seen, nodes_[id].view, now);
  }
  return now;
}

}  // namespace primset::runtime
