// The views that a captured function makes. A tensor is a base seen through a chain of views, and
// chains that begin alike share their beginning; so a view of a view costs one node, however many
// there are before it.
#ifndef PRIMSET_SDK_RUNTIME_GRAPH_VIEW_TREE_H_
#define PRIMSET_SDK_RUNTIME_GRAPH_VIEW_TREE_H_

#include <vector>

#include "decomps/engine/functionalization/view_steps.h"

namespace primset::runtime {

class ViewTree {
 public:
  using Id = uint32_t;
  static constexpr Id kWhole = UINT32_MAX;  // the base itself, seen through no view

  Id add(Id parent, decomps::View view);
  // The views from the base to `id`, in the order they were made.
  std::vector<Id> path(Id id) const;
  const decomps::View& view(Id id) const { return nodes_[id].view; }

  // What is seen of a base that has this value. Each view is applied once to a value, and kept.
  decomps::Val read(Id id, const decomps::Val& base);
  // The base's value when `value` has been stored through the views.
  decomps::Val write(Id id, const decomps::Val& base, const decomps::Val& value);

 private:
  struct Node {
    Id parent = kWhole;
    decomps::View view;
    prims::ValueId base = prims::kNoValue;  // of which `seen` is what this view shows
    decomps::Val seen;
  };
  std::vector<Node> nodes_;
};

}  // namespace primset::runtime

#endif  // PRIMSET_SDK_RUNTIME_GRAPH_VIEW_TREE_H_
