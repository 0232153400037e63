// Reductions: which share a kernel, and with what else of their rows.
#include <algorithm>

#include "codegen/schedule/element/view_placement.h"
#include "codegen/schedule/fusion/planner.h"
#include "prims/graph/traits.h"

namespace primset::schedule {

Planner::Rows Planner::rows_of(const Node& n) const {
  Rows rows;
  rows.domain = g_.type(n.operands[0]).shape;
  rows.dim = static_cast<size_t>(n.attr<std::vector<int64_t>>("dims")[0]);
  rows.kept = rows.domain;
  rows.kept.erase(rows.kept.begin() + static_cast<std::ptrdiff_t>(rows.dim));
  return rows;
}

// Is the result asked for at the row that the asking kernel is at?
bool Planner::asks_at_rows(const Access& a, const Rows& rows) const {
  if (a.space == Space::operand || a.space == Space::copied) return false;
  const FusionGroup& group = plan_.groups[find(a.group)];
  const bool of_rows = resolved(a.group, a.space) == Space::rows ||
                       (group.family == &pointwise_family && same_shape(group.domain, rows.kept));
  Indices own = identity_indices(of_rows ? rows.kept : rows.domain);
  if (!of_rows) own.erase(own.begin() + static_cast<std::ptrdiff_t>(rows.dim));
  return index_key(a.at) == index_key(own);
}

// A kernel over these rows, or one that can become that.
bool Planner::fits_rows(GroupId g, const Rows& rows) const {
  const FusionGroup& group = plan_.groups[g];
  if (group.anchor != Graph::kNoNode) return false;
  if (group.family == &reduction_family)
    return group.dim == rows.dim && same_shape(group.domain, rows.domain);
  const bool shape = same_shape(group.domain, rows.domain) || same_shape(group.domain, rows.kept);
  return group.family == &pointwise_family && group.checks.empty() && shape;
}

// The group that computes this reduction besides what it has; it takes in the others that could.
// nullopt: none, and `why` says so. All that do not belong to it read the results.
std::optional<GroupId> Planner::group_of_rows(const Node& n, const Rows& rows, NotFused& why) {
  why = NotFused::other_rows;
  std::vector<GroupId> fitting;
  bool others = false;
  for (ValueId v : n.results) {
    others |= forced_.contains(v) || memory_readers_.contains(v);
    for (GroupId g : readers_of(questions_[v])) {
      if (std::ranges::find(fitting, g) != fitting.end()) continue;
      const NodeId id = g_.producer(v);
      bool fits = options_.fuse && drafts_[g].region == region_[id] && fits_rows(g, rows);
      for (ValueId r : n.results) {
        for (const Access& a : questions_[r]) {
          if (!fits || find(a.group) != g) continue;
          if (!asks_at_rows(a, rows)) why = NotFused::other_index, fits = false;
          if (const auto limit = exceeds_limits(id, a)) why = *limit, fits = false;
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
      if (plan_.groups[g].family != &reduction_family) go_along_rows(g, rows);
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

void Planner::join(GroupId g, NodeId id, const Rows& rows) {
  if (plan_.groups[g].family != &reduction_family) go_along_rows(g, rows);
  plan_.groups[g].reduces.push_back(id);
  compute_in(g, id);
  plan_.groups[g].operations += 1;
}

// A pointwise group over rows, or over an element for each row, becomes a reduction's.
void Planner::go_along_rows(GroupId g, const Rows& rows) {
  FusionGroup& group = plan_.groups[g];
  const bool born_of_rows = same_shape(group.domain, rows.kept);
  for (GroupId member : drafts_[g].members) drafts_[member].born_of_rows = born_of_rows;
  group.family = &reduction_family;
  group.domain = rows.domain;
  group.dim = rows.dim;
  for (Read& r : group.reads) r.space = resolved(g, r.space);
}

// What Space::root means to a group that goes along rows; `asker` as it was before it was merged.
Space Planner::resolved(GroupId asker, Space space) const {
  if (space != Space::root || plan_.groups[find(asker)].family != &reduction_family) return space;
  return drafts_[asker].born_of_rows ? Space::rows : Space::wide;
}

// --- rows seen ahead -----------------------------------------------------------------------------
// What is made of rows may be wanted before the walk has come to their reduction: layer_norm's
// third result, a number a row, belongs to the kernel that makes its first one, which asks for it.

void Planner::find_rows() {
  made_of_rows_.assign(g_.value_count(), Graph::kNoNode);
  for (NodeId id : numbered_) {
    const Node& n = g_.node(id);
    NodeId rows = Graph::kNoNode;
    if (prims::is_reduction(n.prim) && prims::has_combiner(n.prim)) {
      rows = id;
    } else if (prims::is_indexable(n.prim)) {
      for (ValueId v : n.operands) {
        if (rows == Graph::kNoNode && v != prims::kNoValue) rows = made_of_rows_[v];
      }
    }
    for (ValueId v : n.results) made_of_rows_[v] = rows;
  }
}

// The rows that `g`, still a pointwise group, goes along if it computes `v`, an element for each.
std::optional<Planner::Rows> Planner::rows_ahead(GroupId g, ValueId v) const {
  const FusionGroup& group = plan_.groups[g];
  const NodeId reduction = made_of_rows_[v];
  if (group.family != &pointwise_family || group.anchor != Graph::kNoNode ||
      !group.checks.empty() || reduction == Graph::kNoNode)
    return std::nullopt;
  if (g_.type(v).rank() + 1 != group.domain.size() || family_of(reduction) != nullptr)
    return std::nullopt;
  Rows rows = rows_of(g_.node(reduction));
  if (!same_shape(rows.domain, group.domain) || !same_shape(rows.kept, g_.type(v).shape))
    return std::nullopt;
  return rows;
}

// The reduction that was seen ahead went elsewhere, or needs what is made of the group's results:
// what has an element for each row and what has one for each of the domain are pointwise groups.
void Planner::split_without_reduction(GroupId g) {
  const SymInts domain = plan_.groups[g].domain;
  SymInts kept = domain;
  kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(plan_.groups[g].dim));
  const auto is_wide = [&](const Root& r) { return same_shape(g_.type(r.value).shape, domain); };
  const auto become = [&](GroupId id, const SymInts& shape, Space own) {
    FusionGroup& group = plan_.groups[id];
    group.family = &pointwise_family;
    group.domain = shape;
    std::erase_if(group.roots, [&](const Root& r) { return is_wide(r) != (own == Space::wide); });
    for (Read& r : group.reads) r.space = r.space == own ? Space::root : Space::operand;
  };
  const auto wide = std::ranges::count_if(plan_.groups[g].roots, is_wide);
  const bool all_wide = wide == std::ssize(plan_.groups[g].roots);
  if (all_wide || wide == 0)
    return become(g, all_wide ? domain : kept, all_wide ? Space::wide : Space::rows);
  const GroupId other = new_group(pointwise_family, drafts_[g].region, {});
  plan_.groups[other] = plan_.groups[g];
  drafts_[other] = drafts_[g];
  become(g, domain, Space::wide);
  become(other, kept, Space::rows);
}

void Planner::visit_reduction(NodeId id) {
  const Node& n = g_.node(id);
  const bool wanted = std::ranges::any_of(n.results, [&](ValueId v) {
    return !questions_[v].empty() || forced_.contains(v) || memory_readers_.contains(v);
  });
  if (!wanted) return;
  const Rows rows = rows_of(n);
  if (!has_elements(rows.kept)) {
    for (ValueId v : n.results) {
      plan_.places.emplace(v, forced_.contains(v) ? forced_.at(v).place : temp(v));
      leave_empty(v);
    }
    return;
  }
  NotFused why;
  std::optional<GroupId> group = group_of_rows(n, rows, why);
  const bool own = !group;
  if (own) {
    group = new_group(reduction_family, region_[id], rows.domain);
    plan_.groups[*group].dim = rows.dim;
    drafts_[*group].born_of_rows = true;
  }
  join(*group, id, rows);
  for (ValueId v : n.results) {
    const bool read_elsewhere =
        memory_readers_.contains(v) || std::ranges::any_of(questions_[v], [&](const Access& a) {
          return find(a.group) != *group;
        });
    if (read_elsewhere && !forced_.contains(v)) force(v, temp(v), why);
    if (const auto forced = forced_.find(v); forced != forced_.end()) {
      plan_.places.emplace(v, forced->second.place);
      note_unfused(v, forced->second.why);
      add_root(*group, {v, forced->second.place}, position_[id]);
    }
    read_all(v, *group);
  }
  const size_t arity = n.prim == prims::Prim::reduce ? n.operands.size() / 2 : n.operands.size();
  for (size_t i = 0; i < n.operands.size(); ++i) {
    const ValueId v = n.operands[i];
    ask(v, {*group, Space::wide, i < arity ? identity_indices(rows.domain) : Indices{}, 1, false});
  }
}

}  // namespace primset::schedule
