// Which reductions share a kernel, and which other values over the same rows join it: so softmax
// and layer_norm become one kernel each.
//
// A "row" is what one element of a result reduces: the elements along the reduced dim.
#include <algorithm>
#include <set>
#include <unordered_set>

#include "codegen/schedule/element/view_placement.h"
#include "codegen/schedule/fusion/planner.h"
#include "prims/graph/traits.h"

namespace primset::schedule {

Planner::Rows Planner::rows_of(const Node& n) const {
  Rows rows;
  rows.domain = g_.type(n.operands[0]).shape;
  rows.dim = static_cast<size_t>(n.attr<std::vector<int64_t>>("dims")[0]);
  rows.parallel = rows.domain;
  rows.parallel.erase(rows.parallel.begin() + static_cast<std::ptrdiff_t>(rows.dim));
  return rows;
}

// Is the result used at the row that the kernel is computing?
bool Planner::used_at_rows(const Use& use, const Rows& rows) const {
  if (use.space == Space::operand || use.space == Space::copied) return false;
  const FusionGroup& group = plan_.groups[find(use.group)];
  const bool of_rows =
      resolved(use.group, use.space) == Space::rows ||
      (group.family == &pointwise_family && same_shape(group.domain, rows.parallel));
  Indices own = identity_indices(of_rows ? rows.parallel : rows.domain);
  if (!of_rows) own.erase(own.begin() + static_cast<std::ptrdiff_t>(rows.dim));
  return index_key(use.at) == index_key(own);
}

// A kernel over these rows, or one that can become that.
bool Planner::can_reduce(GroupId g, const Rows& rows) const {
  const FusionGroup& group = plan_.groups[g];
  if (group.anchor != Graph::kNoNode) return false;
  if (group.family == &reduction_family)
    return group.dim == rows.dim && same_shape(group.domain, rows.domain);
  const bool shape =
      same_shape(group.domain, rows.domain) || same_shape(group.domain, rows.parallel);
  return group.family == &pointwise_family && group.checks.empty() && shape;
}

// The group that computes this reduction besides what it has; it takes in the others that could.
// nullopt: none, and `why` says so. All that do not belong to it read the results.
std::optional<GroupId> Planner::reduction_group(const Node& n, const Rows& rows, NotFused& why) {
  why = NotFused::other_rows;
  std::vector<GroupId> fitting;
  bool others = false;
  for (ValueId v : n.results) {
    others |= materialized_.contains(v) || memory_readers_.contains(v);
    for (GroupId g : readers_of(pending_uses_[v])) {
      if (std::ranges::find(fitting, g) != fitting.end()) continue;
      const NodeId id = g_.producer(v);
      bool fits = options_.fuse && drafts_[g].region == region_[id] && can_reduce(g, rows);
      for (ValueId r : n.results) {
        for (const Use& use : pending_uses_[r]) {
          if (!fits || find(use.group) != g) continue;
          if (!used_at_rows(use, rows)) why = NotFused::other_index, fits = false;
          if (const auto limit = exceeds_limits(id, use)) why = *limit, fits = false;
        }
      }
      if (fits)
        fitting.push_back(g);
      else
        others = true;
    }
  }
  if (fitting.empty()) return std::nullopt;
  const GroupId first = fitting[0];
  for (size_t i = 1; i < fitting.size(); ++i) {
    if (!can_merge(first, fitting[i])) {
      others = true;
      continue;
    }
    for (GroupId g : {first, fitting[i]}) {
      if (plan_.groups[g].family != &reduction_family) become_reduction(g, rows);
    }
    merge(first, fitting[i]);
  }
  // Others read what this group then has to write, besides its own results.
  const uint32_t position = position_[g_.producer(n.results[0])];
  if (others && !reads_nothing_made_after(first, position)) {
    why = NotFused::order;
    return std::nullopt;
  }
  if (others) why = NotFused::recompute_cost;
  return first;
}

// Another reduction over the same rows that computes much of the same: in one kernel it is computed
// once. Siblings that only read the same are merged when the walk is over (siblings.cpp); by then
// what two kernels share is in memory.
std::optional<GroupId> Planner::reduction_beside(NodeId id, const Rows& rows) const {
  constexpr uint32_t kMuch = 8;
  if (!options_.fuse) return std::nullopt;
  const RegionId region = region_[id];
  const auto reads_result = [&](GroupId g) {
    return std::ranges::any_of(g_.node(id).results, [&](ValueId v) {
      return std::ranges::any_of(pending_uses_[v],
                                 [&](const Use& use) { return find(use.group) == g; });
    });
  };
  for (size_t i = recent_[region].size(); i-- > 0;) {
    const GroupId g = find(recent_[region][i]);
    const FusionGroup& group = plan_.groups[g];
    if (!reads_result(g) && group.family == &reduction_family && !group.reduces.empty() &&
        can_reduce(g, rows) && reads_nothing_made_after(g, position_[id]) &&
        group.operations < machine_.limits.operations / 2 &&
        group.parameter_bytes < machine_.limits.parameter_bytes / 4 &&
        shared_operations(group, id) >= kMuch)
      return g;
  }
  return std::nullopt;
}

// How many operations the reduction and the group's have in common, each in a kernel of its own.
// Operands come before what is made of them, so that each node is looked at once.
uint32_t Planner::shared_operations(const FusionGroup& group, NodeId id) const {
  constexpr size_t kFar = 256;
  const auto sources = [&](std::set<NodeId> open) {
    std::unordered_set<NodeId> found;
    while (!open.empty() && found.size() < kFar) {
      const NodeId last = open.extract(std::prev(open.end())).value();
      for (const ValueId v : g_.node(last).operands) {
        const NodeId p = v == prims::kNoValue ? Graph::kNoNode : g_.producer(v);
        const bool computed = p != Graph::kNoNode && region_[p] == region_[id] &&
                              prims::is_indexable(g_.node(p).prim) && !known_place(v);
        if (computed && found.insert(p).second) open.insert(p);
      }
    }
    return found;
  };
  const std::unordered_set<NodeId> mine = sources({id});
  uint32_t shared = 0;
  for (const NodeId p : sources({group.reduces.begin(), group.reduces.end()}))
    if (mine.contains(p)) shared += operations_of(g_.node(p));
  return shared;
}

void Planner::join(GroupId g, NodeId id, const Rows& rows) {
  if (plan_.groups[g].family != &reduction_family) become_reduction(g, rows);
  plan_.groups[g].reduces.push_back(id);
  compute_in(g, id);
  plan_.groups[g].operations += 1;
}

// A pointwise group over rows, or over an element for each row, becomes a reduction's.
void Planner::become_reduction(GroupId g, const Rows& rows) {
  FusionGroup& group = plan_.groups[g];
  const bool root_is_rows = same_shape(group.domain, rows.parallel);
  for (GroupId member : drafts_[g].members) drafts_[member].root_is_rows = root_is_rows;
  group.family = &reduction_family;
  group.domain = rows.domain;
  group.dim = rows.dim;
  for (Read& r : group.reads) r.space = resolved(g, r.space);
}

// What Space::root means to a reduction group; `user` is the group as it was before any merge.
Space Planner::resolved(GroupId user, Space space) const {
  if (space != Space::root || plan_.groups[find(user)].family != &reduction_family) return space;
  return drafts_[user].root_is_rows ? Space::rows : Space::domain;
}

// --- anticipated reductions ----------------------------------------------------------------------
// The walk visits a value before the reductions that it is computed from. Where the value has one
// element a row it may still belong to a reduction kernel: layer_norm's third result, one number a
// row, is stored by the kernel of its first result, which reads it. Such a group becomes a
// reduction group before the walk has reached the reduction itself.

void Planner::find_source_reductions() {
  source_reduction_.assign(g_.value_count(), Graph::kNoNode);
  for (NodeId id : numbered_) {
    const Node& n = g_.node(id);
    NodeId rows = Graph::kNoNode;
    if (prims::is_reduction(n.prim) && prims::has_combiner(n.prim)) {
      rows = id;
    } else if (prims::is_indexable(n.prim)) {
      for (ValueId v : n.operands) {
        if (rows == Graph::kNoNode && v != prims::kNoValue) rows = source_reduction_[v];
      }
    }
    for (ValueId v : n.results) source_reduction_[v] = rows;
  }
}

// The rows that `g`, still a pointwise group, will reduce if it computes `v`, one element a row.
std::optional<Planner::Rows> Planner::anticipated_rows(GroupId g, ValueId v) const {
  const FusionGroup& group = plan_.groups[g];
  const NodeId reduction = source_reduction_[v];
  if (group.family != &pointwise_family || group.anchor != Graph::kNoNode ||
      !group.checks.empty() || reduction == Graph::kNoNode)
    return std::nullopt;
  if (g_.type(v).rank() + 1 != group.domain.size() || family_of(reduction) != nullptr)
    return std::nullopt;
  Rows rows = rows_of(g_.node(reduction));
  if (!same_shape(rows.domain, group.domain) || !same_shape(rows.parallel, g_.type(v).shape))
    return std::nullopt;
  return rows;
}

// Does `g` reduce the elements of `v` along one dim, while `v` is computed from reductions along
// another? The kernel of those has what `v` takes at hand: it stores `v`, and `g` reads it. So the
// gradient of a norm is one kernel over rows, and its sum, the gradient of a bias, one over
// columns.
bool Planner::crosses_rows(GroupId g, ValueId v) const {
  const FusionGroup& group = plan_.groups[g];
  const NodeId reduction = source_reduction_[v];
  if (group.family != &reduction_family || reduction == Graph::kNoNode ||
      !same_shape(g_.type(v).shape, group.domain))
    return false;
  const Rows rows = rows_of(g_.node(reduction));
  return rows.dim != group.dim && same_shape(rows.domain, group.domain);
}

// An anticipated reduction joined another group, or reads results of this one. The roots over the
// domain and those with one element a row then become pointwise groups of their own.
void Planner::split_without_reduction(GroupId g) {
  const SymInts domain = plan_.groups[g].domain;
  SymInts parallel = domain;
  parallel.erase(parallel.begin() + static_cast<std::ptrdiff_t>(plan_.groups[g].dim));
  const auto over_domain = [&](const Root& r) {
    return same_shape(g_.type(r.value).shape, domain);
  };
  const auto become = [&](GroupId id, const SymInts& shape, Space own) {
    FusionGroup& group = plan_.groups[id];
    group.family = &pointwise_family;
    group.domain = shape;
    std::erase_if(group.roots,
                  [&](const Root& r) { return over_domain(r) != (own == Space::domain); });
    for (Read& r : group.reads) r.space = r.space == own ? Space::root : Space::operand;
  };
  const auto count = std::ranges::count_if(plan_.groups[g].roots, over_domain);
  const bool all_over_domain = count == std::ssize(plan_.groups[g].roots);
  if (all_over_domain || count == 0)
    return become(g, all_over_domain ? domain : parallel,
                  all_over_domain ? Space::domain : Space::rows);
  const GroupId other = new_group(pointwise_family, drafts_[g].region, {});
  plan_.groups[other] = plan_.groups[g];
  drafts_[other] = drafts_[g];
  become(g, domain, Space::domain);
  become(other, parallel, Space::rows);
}

// The reduction joins the group that reads it at its own rows, or gets a group of its own. Results
// that other groups read, or that are wanted in memory, become roots of that group.
void Planner::visit_reduction(NodeId id) {
  const Node& n = g_.node(id);
  const bool wanted = std::ranges::any_of(n.results, [&](ValueId v) {
    return !pending_uses_[v].empty() || materialized_.contains(v) || memory_readers_.contains(v);
  });
  if (!wanted) return;
  const Rows rows = rows_of(n);
  if (!has_elements(rows.parallel)) {
    for (ValueId v : n.results) {
      plan_.places.emplace(v, materialized_.contains(v) ? materialized_.at(v).place : temp(v));
      leave_empty(v);
    }
    return;
  }
  NotFused why;
  std::optional<GroupId> group = reduction_group(n, rows, why);
  if (!group) group = reduction_beside(id, rows);
  if (!group) {
    group = new_group(reduction_family, region_[id], rows.domain);
    plan_.groups[*group].dim = rows.dim;
    drafts_[*group].root_is_rows = true;
  }
  join(*group, id, rows);
  for (ValueId v : n.results) {
    const bool read_elsewhere =
        memory_readers_.contains(v) || std::ranges::any_of(pending_uses_[v], [&](const Use& use) {
          return find(use.group) != *group;
        });
    if (read_elsewhere && !materialized_.contains(v)) materialize(v, temp(v), why);
    if (const auto materialization = materialized_.find(v);
        materialization != materialized_.end()) {
      plan_.places.emplace(v, materialization->second.place);
      note_unfused(v, materialization->second.why);
      add_root(*group, {v, materialization->second.place}, position_[id]);
    }
    read_all(v, *group);
  }
  const size_t arity = n.prim == prims::Prim::reduce ? n.operands.size() / 2 : n.operands.size();
  for (size_t i = 0; i < n.operands.size(); ++i) {
    const ValueId v = n.operands[i];
    add_use(v, {*group, Space::domain, i < arity ? identity_indices(rows.domain) : Indices{}, 1,
                false});
  }
}

}  // namespace primset::schedule
